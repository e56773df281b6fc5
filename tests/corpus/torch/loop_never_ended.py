# program: SyncTensorsGraph
# cause: host_read
# reason: gradients and updates stay recorded, so each read compiles all steps before it as well

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
for step in range(5):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # <- cause, cut 5
