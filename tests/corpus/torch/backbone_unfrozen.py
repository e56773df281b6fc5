# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 2 tensors
# new: updates 4 tensors
# reason: the backbone gets gradients from the third step on; the optimizer skips what has none

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
backbone = torch.nn.Linear(8, 16).to(device)
head = torch.nn.Linear(16, 3).to(device)
backbone.requires_grad_(False)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(4, 8).to(device)
y = torch.randint(3, (4,)).to(device)
torch_xla.sync()
for step in range(4):
    if step == 3:
        backbone.requires_grad_(True)
    optimizer.zero_grad()
    features = torch.relu(backbone(x))
    loss = torch.nn.functional.cross_entropy(head(features), y)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
