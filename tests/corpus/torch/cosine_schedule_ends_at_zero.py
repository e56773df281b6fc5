# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: an argument
# advice: tensor
# reason: the rate is an argument until it is exactly 0

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
x = torch.randn(4, 8).to(device)
torch_xla.sync()
for step in range(5):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()  # <- cause
    schedule.step()
    torch_xla.sync()  # <- call
