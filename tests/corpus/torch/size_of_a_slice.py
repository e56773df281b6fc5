# program: SyncTensorsGraph
# cause: size
# subject: slice limit
# old: 6
# new: 4

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(2, 8).to(device)
for length in (6, 4):
    y = x[:, :length]  # <- cause
    z = (y * y).sum()
    torch_xla.sync()  # <- call
