# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# reason: the copy is recorded with the next step, whose parameters are the checkpoint's tensors then

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.ones(8, 8).to(device)
torch_xla.sync()
kept = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()
for step in range(5):
    if step == 3:
        model.load_state_dict(kept)  # <- cause
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
