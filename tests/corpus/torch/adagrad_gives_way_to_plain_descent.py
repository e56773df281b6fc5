# program: SyncTensorsGraph
# cause: structure

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Phases:
    """Which optimizer updates the model from which epoch on."""

    def __init__(self, model, table):
        self.model, self.table = model, table
        self.optimizer = None

    def begin(self, epoch):
        if epoch in self.table:
            kind, settings = self.table[epoch]
            self.optimizer = kind(self.model.parameters(), **settings)
        return self.optimizer


def network():
    return nn.Sequential(nn.Linear(8, 24), nn.SiLU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 1))


def batches(count):
    for _ in range(count):
        x = torch.randn(16, 8)
        yield x, (x[:, :2].prod(1) + x[:, 2])[:, None]


def train(model, epochs):
    phases = Phases(model, {0: (torch.optim.Adagrad, {"lr": 0.02}),
                            2: (torch.optim.SGD, {"lr": 0.005})})
    for epoch in range(epochs):
        optimizer = phases.begin(epoch)
        for x, y in batches(3):
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()  # <- cause
            torch_xla.sync()  # <- call
        print(epoch, type(optimizer).__name__, loss.item())


model = network().to(device)
torch_xla.sync()
train(model, epochs=3)
