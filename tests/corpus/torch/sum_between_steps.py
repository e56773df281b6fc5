# program: SyncTensorsGraph
# cause: first
# reason: a sum over steps that is asked for between two of them cuts neither

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = torch.zeros((), device=device)
torch_xla.sync()
for step in range(9):
    x = torch.full((8, 4), step + 0.5).to(device)
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    total += loss.detach()
    if step % 3 == 2:
        print(total.item())  # <- read, cause
