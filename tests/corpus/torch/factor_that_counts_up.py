# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: 1
# new: an argument
# reason: 1 is baked in, all other numbers are arguments

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
for step in range(1, 4):
    y = (x * step).sum()  # <- cause
    torch_xla.sync()  # <- call
