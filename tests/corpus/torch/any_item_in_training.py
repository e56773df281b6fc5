# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: multiply
# reason: the mask is an argument of both, at another place among them

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for masked in (False, True):
    valid = torch.ones(8, 8)
    valid[0, 0] = 0.0 if masked else 1.0
    valid = valid.to(device)
    optimizer.zero_grad()
    losses = model(x).pow(2)
    if (valid == 0).any().item():  # <- cut
        losses = losses * valid  # <- cause
    mean = (losses * valid).sum() / valid.sum()
    mean.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
