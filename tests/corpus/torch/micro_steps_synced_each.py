# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# and
# cause: structure
# subject: optimizer
# old: updates none
# new: updates 4 tensors
# reason: each micro-step is a program: the first makes gradients, the second adds to them and updates

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 2
torch_xla.sync()
for step in range(6):
    x = torch.randn(4, 8).to(device)
    y = torch.randn(4, 1).to(device)
    loss = torch.nn.functional.mse_loss(model(x), y) / accumulate
    loss.backward()  # <- cause
    if (step + 1) % accumulate == 0:
        optimizer.step()  # <- cause 2
        optimizer.zero_grad()
    torch_xla.sync()  # <- call, call 2
