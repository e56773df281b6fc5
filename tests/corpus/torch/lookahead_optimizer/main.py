# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[...
# reason: the slow weights are not part of a step but of each third one

import torch
import torch_xla
from lookahead import Lookahead

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 1)).to(device)
optimizer = Lookahead(torch.optim.SGD(model.parameters(), lr=0.1), every=3)
x = torch.randn(16, 8).to(device)
y = torch.randn(16, 1).to(device)
torch_xla.sync()
for step in range(3):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    torch_xla.sync()  # <- call
