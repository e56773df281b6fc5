# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[2,4,4]

import torch
import torch_xla

device = torch_xla.device()
weight = torch.ones(4, 4, device=device)
torch_xla.sync()
for shape in ((8, 4), (2, 4, 4)):
    x = torch.ones(shape).to(device)  # <- cause
    y = (x @ weight).tanh()
    torch_xla.sync()  # <- call
