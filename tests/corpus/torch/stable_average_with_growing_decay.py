# cause: stable

import copy

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class Average:
    """A moving average whose decay is small at first."""

    def __init__(self, model, longest=0.999):
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.longest, self.updates = longest, 0

    @torch.no_grad()
    def update(self, model):
        decay = min(self.longest, (1.5 + self.updates) / (10 + self.updates))
        self.updates += 1
        for kept, new in zip(self.model.parameters(), model.parameters()):
            kept.mul_(decay).add_(new, alpha=1 - decay)


class Ranker(nn.Module):
    def __init__(self, features=9, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, rows):
        return self.layers(rows).squeeze(1)


def train(device):
    model = Ranker().to(device)
    average = Average(model)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    torch_xla.sync()
    for step in range(6):
        better, worse = torch.randn(8, 9).to(device), torch.randn(8, 9).to(device)
        optimizer.zero_grad()
        loss = F.margin_ranking_loss(model(better), model(worse),
                                     torch.ones(8, device=device), margin=0.5)
        loss.backward()
        optimizer.step()
        average.update(model)
        torch_xla.sync()
        print(step, loss.item())
    with torch.no_grad():
        scores = average.model(torch.randn(8, 9).to(device))
        torch_xla.sync()
    print(scores.mean(0).shape, scores.cpu().mean().item())


torch.manual_seed(0)
train(torch_xla.device())
