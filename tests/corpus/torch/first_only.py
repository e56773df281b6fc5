# program: SyncTensorsGraph
# cause: first

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
y = (x * x).sum()
torch_xla.sync()  # <- cause
