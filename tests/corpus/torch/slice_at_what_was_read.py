# program: SyncTensorsGraph
# cause: host_read
# subject: slice start
# old: 5
# new: 6

import torch
import torch_xla

device = torch_xla.device()
w = torch.randn(4, 4).to(device)
x = torch.randn(32, 4).to(device)
place = torch.arange(8).to(device)
torch_xla.sync()
for step in range(4):
    at = int(place.sum() * 0 + 3) + step  # <- cause, read
    window = x[at:at + 4]
    y = (window @ w).sum()
    torch_xla.sync()  # <- call
