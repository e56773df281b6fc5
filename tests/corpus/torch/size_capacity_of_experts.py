# program: SyncTensorsGraph
# cause: size
# old: 4
# new: 6

import torch
import torch_xla

device = torch_xla.device()
tokens = torch.ones(12, 4).to(device)
for capacity in (4, 6):
    slots = torch.zeros(2, capacity, 4, device=device)  # <- cause
    slots = slots + tokens[:1]
    y = slots.sum()
    torch_xla.sync()  # <- call
