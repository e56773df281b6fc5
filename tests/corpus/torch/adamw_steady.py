# program: SyncTensorsGraph
# cause: none
# run:
# run:

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
