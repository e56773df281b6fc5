# program: SyncTensorsGraph
# cause: sharding
# old: unset
# new: replicated
# reason: only the batches have a sharding; what a step has updated then has one as well

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch import nn

xr.use_spmd()
device = torch_xla.device()
torch.manual_seed(15)
devices = xr.global_runtime_device_count()
mesh = xs.Mesh(np.arange(devices), (devices,), ("data",))


def place(rows):
    rows = rows.to(device)
    xs.mark_sharding(rows, mesh, ("data",) + (None,) * (rows.dim() - 1))
    return rows


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 1)

    def forward(self, x):
        return self.net(x)[:, 0]


model = Regressor().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(4):
    x = torch.randn(8, 6)
    inputs, targets = place(x), place(x.sum(1))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
