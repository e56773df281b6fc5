# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# reason: a sync has moved the new tensors, whose line is lost; the optimizer's is where nothing is done

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.ones(8, 4).to(device)
kept = {name: value.cpu() for name, value in model.state_dict().items()}
for step in range(4):
    if step == 3:
        model.load_state_dict(kept, assign=True)
        model.to(device)
        torch_xla.sync()
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
