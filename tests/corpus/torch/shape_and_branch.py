# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[5,4]
# and
# cause: structure
# old: nothing
# new: cosine

import torch
import torch_xla

device = torch_xla.device()
for size, flag in ((8, False), (5, True)):
    x = torch.ones(size, 4).to(device)  # <- cause
    y = x * x
    if flag:
        y = torch.cos(y)  # <- cause 2
    z = y.sum()
    torch_xla.sync()  # <- call, call 2
