# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# advice: on the host
# reason: after each task the weights are put back from a copy on the device, which the next task's first step records

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1)).to(device)
start = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()


def task():
    angle = torch.rand(1) * 3
    x = torch.randn(8, 2)
    return x.to(device), (x.sum(1, keepdim=True) * angle).sin().to(device)


def adapt(x, y, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


for number in range(3):
    x, y = task()
    print(number, adapt(x, y, steps=3))
    model.load_state_dict(start)  # <- cause
