# program: SyncTensorsGraph
# cause: first
# reason: behind a sync of its own the copy needs no program, and the step has its parameters as before

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(8, 8).to(device)
kept = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()
for step in range(6):
    if step == 2:
        model.load_state_dict(kept)
        torch_xla.sync()
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
