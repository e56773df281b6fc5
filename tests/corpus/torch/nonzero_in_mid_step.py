# program: SyncTensorsGraph
# cause: first

import torch
import torch_xla
torch.manual_seed(0)
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
    hot = (out > 0).nonzero()  # <- cut
    total = hot.sum()
    optimizer.step()
    torch_xla.sync()  # <- cause
