# program: SyncTensorsGraph
# cause: first
# reason: the scheduler compares the loss on the host before the step is ended

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
x = torch.randn(16, 8).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    schedule.step(loss)  # <- cut
    torch_xla.sync()  # <- cause
