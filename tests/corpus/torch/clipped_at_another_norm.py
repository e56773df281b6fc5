# program: SyncTensorsGraph
# cause: constant
# subject: divide
# old: 1
# new: an argument
# reason: the norm is 1 at first, and 1 is baked in; every other number is an argument

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
loss_of = torch.nn.MSELoss()
x, y = torch.randn(16, 4).to(device), torch.randn(16, 1).to(device)
torch_xla.sync()


def norm_allowed(step):
    return 1.0 if step < 2 else 0.25


for step in range(4):
    with torch_xla.step():  # <- call
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), norm_allowed(step))  # <- cause
        optimizer.step()
