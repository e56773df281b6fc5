# program: SyncTensorsGraph
# cause: first
# reason: three reads, each of what is recorded only: four programs a step

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
    print(loss.item())  # <- cut 4
    print(out.max().item(), "at most")  # <- cut 4
    print(model.weight.grad)  # <- cut 4
    optimizer.step()
    torch_xla.sync()  # <- cause
