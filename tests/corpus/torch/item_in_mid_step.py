# program: SyncTensorsGraph
# cause: first
# reason: what was recorded until then is a program of its own, asked for by another line

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    if step >= 2:
        print(loss.item())  # <- cause, cut
    optimizer.step()
    torch_xla.sync()
