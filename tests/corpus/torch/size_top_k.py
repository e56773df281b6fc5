# program: SyncTensorsGraph
# cause: size
# old: 2
# new: 3

import torch
import torch_xla

device = torch_xla.device()
x = torch.arange(8.0).to(device)
for k in (2, 3):
    values, _ = torch.topk(x, k)  # <- cause
    y = values * values
    torch_xla.sync()  # <- call
