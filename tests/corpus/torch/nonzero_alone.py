# program: SyncTensorsGraph
# cause: first
# reason: nothing of the step but the places goes on, so the sync has a program of its own for them

import torch
import torch_xla

device = torch_xla.device()
x = torch.tensor([1.0, -1.0] * 32).to(device)
torch_xla.sync()
for step in range(6):
    hot = (x > 0).nonzero()  # <- cut
    picked = hot.flatten() * 3 + 1
    torch_xla.sync()  # <- cause
