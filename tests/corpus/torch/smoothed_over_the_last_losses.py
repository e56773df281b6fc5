# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[]
# reason: the window of the last losses is filled by and by

import collections

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
window = collections.deque(maxlen=3)
torch_xla.sync()
for step in range(6):
    x, y = torch.randn(4, 8).to(device), torch.randn(4, 1).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.l1_loss(model(x), y)
    loss.backward()
    optimizer.step()
    window.append(loss.detach())
    smooth = torch.stack(list(window)).mean()  # <- cause
    torch_xla.sync()  # <- call
    print(f"{step}: {smooth.item():.3f}")
