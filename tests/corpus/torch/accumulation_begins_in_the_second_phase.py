# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# reason: one batch a step at first, then two, with a sync after each: only the second adds to gradients

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()


def train(batches, accumulate):
    optimizer.zero_grad()
    for number in range(batches):
        x, y = torch.randn(6, 8).to(device), torch.randn(6, 1).to(device)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()  # <- cause
        if number % accumulate == accumulate - 1:
            optimizer.step()
            optimizer.zero_grad()
        torch_xla.sync()  # <- call
    return loss.item()


print(train(4, accumulate=1))
print(train(6, accumulate=2))
