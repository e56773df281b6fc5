# program: SyncTensorsGraph
# cause: first
# reason: another line asks for it

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
for _ in range(2):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
with torch.no_grad():
    loss = model(x).pow(2).mean()
torch_xla.sync()  # <- cause
