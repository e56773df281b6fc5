# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# and
# cause: arguments
# old: absent
# reason: both begin in the first step, and each asks for something else

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(2):
    model(x).pow(2).mean().backward()  # <- cause
    optimizer.step()  # <- cause 2
    optimizer.zero_grad(set_to_none=False)
    torch_xla.sync()  # <- call
