# program: SyncTensorsGraph
# cause: first
# reason: error_if_nonfinite asks the host twice (nan, inf) between the gradients and the update

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.0)
torch_xla.sync()
for step in range(5):
    x, y = torch.randn(8, 8).to(device), torch.randn(8, 1).to(device)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)  # <- cut 3
    optimizer.step()
    torch_xla.sync()  # <- cause
