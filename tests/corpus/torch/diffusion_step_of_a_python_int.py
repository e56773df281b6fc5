# program: SyncTensorsGraph
# cause: constant
# reason: the noise level is looked up at a place that the host has drawn

import random

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(3)


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        betas = torch.linspace(0.01, 0.2, steps)
        self.kept = (1 - betas).cumprod(0).to(device)

    def noisy(self, x, noise, step):
        kept = self.kept[step]  # <- cause
        return kept.sqrt() * x + (1 - kept).sqrt() * noise


model = nn.Sequential(nn.Linear(4, 24), nn.SiLU(), nn.Linear(24, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = Schedule(20)
torch_xla.sync()
for number in range(4):
    x = torch.randn(16, 4).to(device)
    noise = torch.randn(16, 4).to(device)
    step = dice.randrange(2, schedule.steps - 2)
    optimizer.zero_grad()
    guess = model(schedule.noisy(x, noise, step))
    loss = (guess - noise).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(number, step, loss.item())
