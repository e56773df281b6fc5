# program: SyncTensorsGraph
# cause: size
# subject: broadcast
# old: 8
# new: 5

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 2).to(device)
for size in (8, 8, 5):
    x = torch.ones(size, 4, device=device)  # <- cause
    y = model(x)
    torch_xla.sync()  # <- call
