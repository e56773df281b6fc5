# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: cosine

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for scale in (0.5, 2.5):
    y = x * scale
    if y.max().item() > 1:  # <- cut
        y = torch.cos(y)  # <- cause
    z = y * y
    torch_xla.sync()  # <- call
