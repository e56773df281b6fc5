# program: SyncTensorsGraph
# cause: structure
# old: tanh
# new: logistic

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for flag in (False, True):
    y = x * x
    if flag:
        y = torch.sigmoid(y)  # <- cause
    else:
        y = torch.tanh(y)
    torch_xla.sync()  # <- call
