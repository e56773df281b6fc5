# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: i64[8]
# reason: only a batch that is mixed has a permutation; what is computed with it follows

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
model = model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
coin = random.Random(0)  # heads for the last batch only
torch_xla.sync()


def training_step(images, labels, mixed):
    if mixed:
        order = torch.randperm(len(images)).to(device)  # <- cause
        share = coin.uniform(0.2, 0.4)
        images = share * images + (1 - share) * images[order]
        scores = model(images)
        loss = share * F.cross_entropy(scores, labels) + (1 - share) * F.cross_entropy(scores, labels[order])
    else:
        loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


for step in range(3):
    images, labels = torch.rand(8, 1, 10, 10).to(device), torch.randint(3, (8,)).to(device)
    loss = training_step(images, labels, mixed=coin.random() < 0.5)
    torch_xla.sync()  # <- call
    print(step, loss.item())
