# program: SyncTensorsGraph
# cause: sharding
# old: unset
# new: devices=[4,1]0,1,2,3

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
device = torch_xla.device()
mesh = xs.Mesh(np.arange(4), (4,), ("data",))
x = torch.ones(8, 4)
for marked in (False, True):
    y = x.to(device)
    if marked:
        xs.mark_sharding(y, mesh, ("data", None))  # <- cause
    z = y * y
    torch_xla.sync()  # <- call
