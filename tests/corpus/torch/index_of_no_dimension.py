# program: SyncTensorsGraph
# cause: host_read
# reason: x[i] with a tensor of no dimensions reads it, and has a program for each number

import torch
import torch_xla

device = torch_xla.device()
x = torch.randn(32, 4).to(device)
i = torch.tensor(3).to(device)
torch_xla.sync()
for step in range(4):
    y = (x[i] * 2).sum()  # <- cause, read
    i = i + 1
    torch_xla.sync()  # <- call
