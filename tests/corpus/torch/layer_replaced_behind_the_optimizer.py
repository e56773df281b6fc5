# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# reason: a head of its own, made behind the optimizer, which goes on with the old one

import torch
import torch_xla

device = torch_xla.device()
body = torch.nn.Linear(8, 8).to(device)
head = torch.nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
x = torch.ones(16, 8).to(device)
for step in range(4):
    if step == 3:
        head = torch.nn.Linear(8, 4).to(device)  # <- cause
    optimizer.zero_grad()
    head(torch.tanh(body(x))).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
