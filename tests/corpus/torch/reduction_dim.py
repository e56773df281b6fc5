# program: SyncTensorsGraph
# cause: constant
# subject: reduce dimensions
# old: [0]
# new: [1]

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 8).to(device)
for dim in (0, 1):
    y = (x * x).sum(dim)  # <- cause
    torch_xla.sync()  # <- call
