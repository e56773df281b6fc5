# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[5,4]

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for size in (8, 8, 5):
    x = torch.ones(size, 4).to(device)  # <- cause
    target = torch.zeros(size, 4).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
