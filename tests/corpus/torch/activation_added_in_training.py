# program: SyncTensorsGraph
# cause: structure
# reason: what is added in the gradient of gelu is not a gradient that was zeroed

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(2):
    model.zero_grad()
    y = model(x)
    if step:
        y = torch.nn.functional.gelu(y)  # <- cause
    y.pow(2).mean().backward()
    torch_xla.sync()  # <- call
