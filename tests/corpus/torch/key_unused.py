# program: SyncTensorsGraph
# cause: none

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
weight = torch.ones(8).to(device)
for batch in ({"x": x}, {"x": x, "weight": weight}):
    loss = (batch["x"] * 2.5).sum()
    torch_xla.sync()
