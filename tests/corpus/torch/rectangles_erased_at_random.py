# program: SyncTensorsGraph
# cause: constant
# reason: the rectangle is of one size, but it is erased on the device at a place that the host draws

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Erase:
    def __init__(self, size, seed):
        self.size, self.dice = size, random.Random(seed)

    def __call__(self, images):
        top = self.dice.randint(2, images.shape[2] - self.size)
        left = self.dice.randint(2, images.shape[3] - self.size)
        images[:, :, top:top + self.size, left:left + self.size] = 0.5  # <- cause
        return images


erase = Erase(4, seed=5)
model = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 49, 5)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(5):
    images, labels = torch.rand(6, 3, 16, 16).to(device), torch.randint(5, (6,)).to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(erase(images)), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
