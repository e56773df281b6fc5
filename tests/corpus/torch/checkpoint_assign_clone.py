# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# reason: the last compile of a frozen training: gradients of tensors that no optimizer zeroes

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(16, 8).to(device)
kept = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()
for step in range(7):
    if step == 4:
        model.load_state_dict(kept, assign=True)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
