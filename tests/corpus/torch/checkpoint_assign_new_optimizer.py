# program: SyncTensorsGraph
# cause: none
# reason: an optimizer without a state that is made after the load updates what was put in place

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
x = torch.ones(8, 4).to(device)
kept = {name: value.cpu() for name, value in model.state_dict().items()}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    if step == 2:
        model.load_state_dict(kept, assign=True)
        model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
