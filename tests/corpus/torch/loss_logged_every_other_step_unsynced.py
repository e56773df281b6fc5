# program: SyncTensorsGraph
# cause: host_read
# advice: torch_xla.sync()
# reason: nothing ends a step, so each read compiles the steps that were recorded so far

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8).to(device)
y = torch.randn(16, 1).to(device)
for step in range(8):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"step {step}: loss {loss.item():.4f}")  # <- cause, cut 4
