# program: SyncTensorsGraph
# cause: first
# reason: what is made of the weights between two steps is a program of its own and cuts neither

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(9):
    x = torch.full((8, 4), step + 0.5).to(device)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
    print(model.weight.norm().item())  # <- read, cause
