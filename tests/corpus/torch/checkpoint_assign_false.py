# program: SyncTensorsGraph
# cause: none
# run:
# run:

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
x = torch.ones(8, 4).to(device)
kept = {name: value.cpu() for name, value in model.state_dict().items()}
for step in range(5):
    if step == 3:
        model.load_state_dict(kept)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    torch_xla.sync()
