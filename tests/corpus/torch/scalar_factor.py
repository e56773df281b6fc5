# program: SyncTensorsGraph
# cause: none
# reason: PyTorch/XLA passes a Python number as an argument, unless it is 0 or 1

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
for factor in (0.5, 0.25, 0.125):
    y = (x * factor).sum()
    torch_xla.sync()
