# program: SyncTensorsGraph
# cause: size
# old: 16
# new: 17
# reason: its gradient is padded by what the slice leaves out

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 64).to(device)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(2):
    model.zero_grad()
    losses = model(x).pow(2)
    losses[:, : 16 + step].sum().backward()  # <- cause
    torch_xla.sync()  # <- call
