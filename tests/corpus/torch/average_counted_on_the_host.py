# program: SyncTensorsGraph
# cause: constant
# old: 1
# new: an argument
# reason: AveragedModel divides by how many it has seen: 1 is baked in, 2 and more are arguments

import torch
import torch_xla
from torch.optim.swa_utils import AveragedModel

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).to(device)
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for epoch in range(4):
    for _ in range(2):
        x, y = torch.randn(4, 6).to(device), torch.randint(2, (4,)).to(device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        torch_xla.sync()
    average.update_parameters(model)  # <- cause
    torch_xla.sync()  # <- call
