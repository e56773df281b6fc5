# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# reason: weights that are copied back from a moving average, before the next step is recorded

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(16, 16).to(device)
average = [value.detach().clone() for value in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(16, 16).to(device)
torch_xla.sync()
for step in range(5):
    if step == 3:
        with torch.no_grad():
            for value, mean in zip(model.parameters(), average):
                value.copy_(mean)  # <- cause
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
