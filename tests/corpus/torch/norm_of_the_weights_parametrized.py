# program: SyncTensorsGraph
# cause: arguments
# new: f32[1,7]
# reason: weight_norm replaces one weight by a direction and a length after the first epoch

import torch
import torch_xla
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 1)).to(device)
torch_xla.sync()


def epoch(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(2):
        x = torch.randn(6, 5).to(device)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        torch_xla.sync()  # <- call


epoch(model)
weight_norm(model[2])  # <- cause
torch_xla.sync()
epoch(model)
