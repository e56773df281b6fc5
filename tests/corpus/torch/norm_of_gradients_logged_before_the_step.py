# program: SyncTensorsGraph
# cause: first

import collections

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class Log:
    def __init__(self):
        self.values = collections.defaultdict(list)

    def add(self, **figures):
        for name, value in figures.items():
            self.values[name].append(value)

    def summary(self):
        return {name: sum(values) / len(values) for name, values in self.values.items()}


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def train_step(model, optimizer, x, y, log):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=2.0)
    log.add(norm=norm.item())  # <- cut
    optimizer.step()
    torch_xla.sync()  # <- cause
    log.add(loss=loss.item())  # <- read


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model, log = Regressor().to(device), Log()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch_xla.sync()
    for _ in range(6):
        x = torch.randn(16, 10)
        train_step(model, optimizer, x.to(device), x.sum(1).to(device), log)
    print(log.summary())


main()
