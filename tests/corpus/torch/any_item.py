# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: cosine

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for step in range(3):
    y = x * (step + 2)
    if (y > 2.5).any().item():  # <- cut
        y = torch.cos(y)  # <- cause
    z = y * y
    torch_xla.sync()  # <- call
    if step == 1:
        break
