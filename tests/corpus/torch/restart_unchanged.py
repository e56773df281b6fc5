# program: SyncTensorsGraph
# cause: none
# run:
# run:

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
x = torch.ones(8, 4).to(device)
for _ in range(2):
    y = model(x)
    torch_xla.sync()
