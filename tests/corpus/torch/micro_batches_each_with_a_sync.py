# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# advice: after optimizer.step()
# reason: gradients are created, added to, and only then used by the optimizer, each in a program of its own

import torch
import torch_xla
from torch import nn

ACCUMULATE = 3
device = torch_xla.device()
torch.manual_seed(3)


class Trainer:
    def __init__(self, model, rate):
        self.model = model.to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate)
        self.micro_batches = 0
        torch_xla.sync()

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y) / ACCUMULATE
        loss.backward()
        self.micro_batches += 1
        if self.micro_batches % ACCUMULATE == 0:
            self.optimizer.step()  # <- cause
            self.optimizer.zero_grad()
        torch_xla.sync()  # <- call
        return loss


def batches(count):
    for _ in range(count):
        x = torch.randn(4, 6)
        yield x.to(device), x.sum(1, keepdim=True).to(device)


trainer = Trainer(nn.Sequential(nn.Linear(6, 10), nn.GELU(), nn.Linear(10, 1)), 0.05)
for x, y in batches(3 * ACCUMULATE):
    loss = trainer.step(x, y)
print(loss.item())
