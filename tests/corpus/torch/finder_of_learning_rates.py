# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: an argument
# new: -1
# reason: the search passes through a rate of exactly 1

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
x, y = torch.randn(16, 8).to(device), torch.randn(16, 1).to(device)
torch_xla.sync()
found = []
while optimizer.param_groups[0]["lr"] < 5:
    optimizer.zero_grad()
    loss = torch.nn.functional.l1_loss(model(x), y)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    for group in optimizer.param_groups:
        found.append((group["lr"], loss.item()))
        group["lr"] *= 10
print(min(found, key=lambda pair: pair[1]))
