# program: SyncTensorsGraph
# cause: structure
# old: 3 times
# new: 5 times

import math

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


def transport_plan(costs, rounds, softness=0.2):
    plan = -costs / softness
    for _ in range(rounds):
        plan = plan - plan.logsumexp(2, keepdim=True)  # <- cause
        plan = plan - plan.logsumexp(1, keepdim=True)
    return plan.exp()


class Matcher(nn.Module):
    def __init__(self, features=6, width=12):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, left, right, rounds):
        costs = torch.cdist(self.embed(left), self.embed(right)) / math.sqrt(12)
        return transport_plan(costs, rounds)


def permuted(points):
    order = torch.randperm(points.shape[1])
    wanted = torch.zeros(points.shape[1], points.shape[1])
    wanted[order, torch.arange(len(order))] = 1
    return points[:, order] + 0.01 * torch.randn(points.shape), wanted.T.contiguous()


def fit(model, phases):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for rounds, steps in phases:
        for _ in range(steps):
            points = torch.randn(4, 5, 6)
            other, wanted = permuted(points)
            plan = model(points.to(device), other.to(device), rounds)
            loss = -(wanted.to(device) * (plan + 1e-6).log()).sum((1, 2)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        print(rounds, loss.item())


model = Matcher().to(device)
torch_xla.sync()
fit(model, phases=[(3, 3), (5, 2)])
