# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: cosine

import model
import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
for flag in (False, True):
    z = model.forward(x, flag)
    torch_xla.sync()  # <- call
