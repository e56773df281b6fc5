# program: SyncTensorsGraph
# cause: sharding
# old: devices=[4,1]...
# new: devices=[2,1,2]...
# reason: the last batch is on the first axis of the mesh only, the others on both

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
device = torch_xla.device()
torch.manual_seed(0)
mesh = xs.Mesh(np.arange(4), (2, 2), ("data", "fsdp"))
model = torch.nn.Linear(8, 3).to(device).requires_grad_(False)
torch_xla.sync()
for axes in (("data", "fsdp"), ("data", "fsdp"), "data"):
    rows = torch.randn(8, 8).to(device)
    xs.mark_sharding(rows, mesh, (axes, None))  # <- cause
    scores = model(rows).softmax(-1)
    torch_xla.sync()  # <- call
