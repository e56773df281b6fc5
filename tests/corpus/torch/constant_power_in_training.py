# program: SyncTensorsGraph
# cause: constant
# subject: power
# old: 2
# new: 3

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
for step in (2, 3):
    optimizer.zero_grad()
    y = model(x)
    loss = (y**step).mean()  # <- cause
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
