# program: SyncTensorsGraph
# cause: host_read
# advice: End each step

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(9)


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, loss):
        self.total += loss.item()  # <- cause, cut 4
        self.count += 1

    def mean(self):
        return self.total / self.count


def train(model, optimizer, batches):
    meter = Meter()
    for x in batches:
        x = x.to(device)
        optimizer.zero_grad()
        loss = (model(x) - x).abs().mean()
        loss.backward()
        optimizer.step()
        meter.add(loss)
    return meter.mean()


model = nn.Sequential(nn.Linear(6, 3), nn.ELU(), nn.Linear(3, 6)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
print(train(model, optimizer, torch.randn(5, 8, 6)))
