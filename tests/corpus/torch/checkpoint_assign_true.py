# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# reason: the optimizer has the tensors that were there before, so that nothing updates the new ones

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
        model.to(device)  # <- cause
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
