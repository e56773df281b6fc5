# program: SyncTensorsGraph
# cause: constant
# subject: power
# old: 2
# new: 3
# and
# cause: structure
# old: nothing
# new: tanh

import torch
import torch_xla

device = torch_xla.device()
x = torch.full((8, 4), 1.5).to(device)
for exponent, flag in ((2, False), (3, True)):
    y = (x + 1) ** exponent  # <- cause
    z = y.sum()
    w = x * 2.5
    if flag:
        w = w.tanh()  # <- cause 2
    torch_xla.sync()  # <- call, call 2
