# program: SyncTensorsGraph
# cause: first
# reason: a program of its own behind the step, which nothing of the step goes on with

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    out = model(x)
    loss = out.pow(2).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print((loss * 2).item())  # <- read, cause
