# program: SyncTensorsGraph
# cause: sharding
# old: unset
# new: replicated
# reason: what a step has computed says its sharding, so that the second step is another program

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
device = torch_xla.device()
mesh = xs.Mesh(np.arange(4), (4,), ("data",))
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.ones(8, 4).to(device)
xs.mark_sharding(x, mesh, ("data", None))
for parameter in model.parameters():
    optimizer.state[parameter] = {"momentum_buffer": torch.zeros_like(parameter)}
torch_xla.sync()
for step in range(2):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
