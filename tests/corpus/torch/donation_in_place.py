# program: SyncTensorsGraph
# cause: donation
# old: kept
# new: donated

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(64, 64).to(device)
for in_place in (False, True):
    if in_place:
        x.mul_(0.5)  # <- cause
    else:
        y = x * 0.5
    torch_xla.sync()  # <- call
