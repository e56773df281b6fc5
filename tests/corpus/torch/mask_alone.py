# program: SyncTensorsGraph
# cause: first
# reason: what a mask leaves of a batch is all that the step goes on with

import torch
import torch_xla

device = torch_xla.device()
w = torch.randn(4, 4).to(device)
torch_xla.sync()
for step in range(6):
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0]] * 4).to(device)
    kept = (x[:, 0] > 0).nonzero()  # <- cut
    weights = (kept.float() @ w[:1]).sum(0)
    torch_xla.sync()  # <- cause
