# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[8]

import torch
import torch_xla

device = torch_xla.device()
parts = [torch.full((8,), float(i)).to(device) for i in range(4)]
for count in (2, 3):
    y = torch.zeros(8, device=device)
    for part in parts[:count]:
        y = y + part * part  # <- cause
    torch_xla.sync()  # <- call
