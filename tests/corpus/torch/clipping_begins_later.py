# program: SyncTensorsGraph
# cause: structure
# old: nothing

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8).to(device)
y = torch.randn(16, 1).to(device)
torch_xla.sync()
for step in range(4):
    with torch_xla.step():  # <- call
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        if step >= 3:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- cause
        optimizer.step()
