# program: SyncTensorsGraph
# cause: structure
# reason: copies of the best weights are recorded with the next step

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 8).to(device), torch.randn(16, 1).to(device)
torch_xla.sync()
best, best_loss = None, float("inf")
for epoch in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    if epoch == 2 and loss.item() < best_loss:
        best_loss = loss.item()
        best = {name: value.clone() for name, value in model.state_dict().items()}  # <- cause
