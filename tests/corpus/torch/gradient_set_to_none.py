# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# reason: gradients that were zeroed in place are constants, to which the new ones are added

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(2):
    optimizer.zero_grad(set_to_none=step == 0)
    model(x).pow(2).mean().backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
