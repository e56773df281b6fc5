# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for micro in range(2):
    loss = model(x).pow(2).mean()
    loss.backward()  # <- cause
    torch_xla.sync()  # <- call
