# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: cosine

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for flag in (False, True):
    y = x * x
    if flag:
        y = torch.cos(y)  # <- cause
    z = y.sum()
    torch_xla.sync()  # <- call
