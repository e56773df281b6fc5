# program: SyncTensorsGraph
# cause: structure
# advice: rates

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class DropPath(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.0

    def forward(self, x):
        if self.rate == 0.0 or not self.training:
            return x
        kept = (torch.rand(len(x), 1, device=x.device) >= self.rate).to(x.dtype)  # <- cause
        return x * kept / (1 - self.rate)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(width), DropPath()
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.drop(self.inner(self.norm(x)))


class Network(nn.Module):
    def __init__(self, width=16, depth=2, classes=3):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.blocks(x))


def set_drop_path(model, rate):
    for module in model.modules():
        if isinstance(module, DropPath):
            module.rate = rate


def train(model, device, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for epoch in range(epochs):
        set_drop_path(model, 0.15 * epoch)
        for _ in range(3):
            x, y = torch.randn(8, 16).to(device), torch.randint(3, (8,)).to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        print(epoch, loss.item())


torch.manual_seed(0)
device = torch_xla.device()
model = Network().to(device)
torch_xla.sync()
train(model, device, epochs=3)
