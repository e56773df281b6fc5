# program: SyncTensorsGraph
# cause: structure
# old: add
# new: maximum

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 8).to(device)
for largest in (False, True):
    y = x * x
    z = y.amax(1) if largest else y.sum(1)  # <- cause
    torch_xla.sync()  # <- call
