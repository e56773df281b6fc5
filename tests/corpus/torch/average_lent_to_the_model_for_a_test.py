# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# advice: on the host

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class WeightAverage:
    """A moving average of weights that a model can borrow for a test."""

    def __init__(self, model, decay=0.9):
        self.parameters, self.decay = list(model.parameters()), decay
        self.average = [p.detach().clone() for p in self.parameters]
        self.stored = None

    @torch.no_grad()
    def update(self):
        for average, parameter in zip(self.average, self.parameters):
            average.mul_(self.decay).add_(parameter, alpha=1 - self.decay)

    @torch.no_grad()
    def lend(self):
        self.stored = [p.detach().clone() for p in self.parameters]
        for average, parameter in zip(self.average, self.parameters):
            parameter.copy_(average)

    @torch.no_grad()
    def restore(self):
        for stored, parameter in zip(self.stored, self.parameters):
            parameter.copy_(stored)  # <- cause
        self.stored = None


def train_step(model, optimizer, average, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    average.update()
    torch_xla.sync()  # <- call
    return loss.item()


@torch.no_grad()
def test(model, x, y):
    error = (model(x) - y).abs().mean()
    torch_xla.sync()
    return error.item()


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    average = WeightAverage(model)
    held_out = torch.randn(8, 6).to(device), torch.randn(8, 2).to(device)
    torch_xla.sync()
    for step in range(6):
        if step == 3:
            average.lend()
            print("test", test(model, *held_out))
            average.restore()
        train_step(model, optimizer, average, torch.randn(8, 6).to(device),
                   torch.randn(8, 2).to(device))


main()
