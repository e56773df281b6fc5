# program: SyncTensorsGraph
# cause: constant
# pattern: counter
# reason: pictures are shifted by a random number of pixels that the host draws

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
random.seed(4)
model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()


def augment(pictures, shift):
    return torch.roll(pictures, shift, dims=3)  # <- cause


for shift in random.sample(range(1, 8), 5):
    pictures = torch.rand(4, 1, 8, 8).to(device)
    labels = torch.randint(2, (4,)).to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(augment(pictures, shift)), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(shift, loss.item())
