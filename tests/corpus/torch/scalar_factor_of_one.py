# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: an argument
# new: 1
# reason: 0 and 1 are baked in, all other numbers are arguments

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
for factor in (0.5, 1.0):
    y = (x * factor).sum()  # <- cause
    torch_xla.sync()  # <- call
