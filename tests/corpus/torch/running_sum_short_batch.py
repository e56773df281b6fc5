# program: SyncTensorsGraph
# cause: shape
# old: f32[64,4]
# new: f32[48,4]
# reason: the window of a running sum is as long as what it goes over, and so is its padding

import torch
import torch_xla

device = torch_xla.device()
weight = torch.ones(4, 4).to(device)
for rows in (64, 48):
    x = torch.ones(rows, 4).to(device)  # <- cause
    y = ((x @ weight).view(-1, 2).cumsum(0) * 0.5).sum()
    torch_xla.sync()  # <- call
