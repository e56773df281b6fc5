# program: SyncTensorsGraph
# cause: constant
# subject: power
# old: 2
# new: 3

import torch
import torch_xla

device = torch_xla.device()
x = torch.full((8, 4), 1.5).to(device)
for step in (2, 3):
    y = x + 1
    z = (y**step).sum()  # <- cause
    torch_xla.sync()  # <- call
