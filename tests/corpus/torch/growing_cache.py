# program: SyncTensorsGraph
# cause: shape
# old: f32[2,4]
# new: f32[3,4]

import torch
import torch_xla

device = torch_xla.device()
cache = torch.zeros(1, 4).to(device)
new = torch.ones(1, 4).to(device)
for step in range(3):
    cache = torch.cat([cache, new])  # <- cause
    torch_xla.sync()  # <- call
