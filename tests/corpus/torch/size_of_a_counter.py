# program: SyncTensorsGraph
# cause: size
# old: 3
# new: 4

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for step in (3, 4):
    positions = torch.arange(step, device=device)  # <- cause
    y = x.sum() + positions.sum()
    torch_xla.sync()  # <- call
