# program: SyncTensorsGraph
# cause: first
# reason: the backward pass of cdist is computed on the host, twice in each step, which splits it

import torch
import torch_xla
from torch import nn


class Prototypes(nn.Module):
    def __init__(self, features=6, width=6, classes=3):
        super().__init__()
        self.embed = nn.Linear(features, width)
        self.centres = nn.Parameter(torch.randn(classes, width))

    def forward(self, x):
        return torch.cdist(self.embed(x), self.centres)  # <- cut 3


def train(model, device, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = torch.randn(8, 6).to(device), torch.randint(3, (8,)).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(-model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- cause
        print(loss.item())


torch.manual_seed(0)
device = torch_xla.device()
model = Prototypes().to(device)
torch_xla.sync()
train(model, device, steps=5)
