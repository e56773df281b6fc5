# program: SyncTensorsGraph
# cause: none
# reason: the bound is an argument

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
for bound in (0.5, 0.25):
    y = x.clamp(max=bound).sum()
    torch_xla.sync()
