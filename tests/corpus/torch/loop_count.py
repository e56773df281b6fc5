# program: SyncTensorsGraph
# cause: structure
# old: 3 times
# new: 4 times

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 8).to(device)
for count in (3, 4):
    y = x
    for _ in range(count):
        y = torch.tanh(y)  # <- cause
    torch_xla.sync()  # <- call
