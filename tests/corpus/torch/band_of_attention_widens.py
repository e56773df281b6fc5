# program: SyncTensorsGraph
# cause: constant

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

LENGTH = 12


def band(length, window, device):
    """Each position sees itself and the `window` - 1 before it."""
    ones = torch.ones(length, length, device=device)
    return ones.tril() * ones.triu(1 - window)  # <- cause


class LocalAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.queries, self.keys = nn.Linear(width, width), nn.Linear(width, width)
        self.values = nn.Linear(width, width)

    def forward(self, x, seen):
        scores = self.queries(x) @ self.keys(x).transpose(1, 2) / x.shape[-1] ** 0.5
        return scores.masked_fill(seen == 0, -1e9).softmax(-1) @ self.values(x)


class Forecaster(nn.Module):
    def __init__(self, series=3, width=16):
        super().__init__()
        self.lift, self.attention = nn.Linear(series, width), LocalAttention(width)
        self.read = nn.Linear(width, series)

    def forward(self, past, window):
        x = self.lift(past)
        x = x + self.attention(x, band(past.shape[1], window, past.device))
        return self.read(x)


def train(model, device, windows, steps_each=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for window in windows:
        for _ in range(steps_each):
            series = torch.randn(4, LENGTH + 1, 3).cumsum(1).to(device)
            optimizer.zero_grad()
            loss = F.l1_loss(model(series[:, :-1], window), series[:, 1:])
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        print(window, loss.item())


torch.manual_seed(0)
device = torch_xla.device()
model = Forecaster().to(device)
torch_xla.sync()
train(model, device, windows=[3, 6])
