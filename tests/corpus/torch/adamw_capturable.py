# program: SyncTensorsGraph
# cause: arguments
# old: absent

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, capturable=True)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for step in range(2):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
