# program: SyncTensorsGraph
# cause: structure
# reason: activations are computed again in backward from the second phase on

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.utils.checkpoint as again
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh()).to(device)
head = nn.Linear(16, 3).to(device)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
torch_xla.sync()
for step in range(4):
    x, y = torch.randn(8, 6).to(device).requires_grad_(), torch.randint(3, (8,)).to(device)
    hidden = again.checkpoint(body, x) if step >= 2 else body(x)  # <- cause
    loss = F.cross_entropy(head(hidden), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
