# program: SyncTensorsGraph
# cause: shape
# old: i64[4,1]
# new: i64[3,1]
# reason: the mask is read on the host, and what it leaves is an argument: where

import torch
import torch_xla

device = torch_xla.device()
x = torch.arange(6.0).to(device)
for bound in (1.5, 2.5):
    kept = x[x > bound]  # <- cause, cut
    y = (kept * kept).sum()
    torch_xla.sync()  # <- call
