# program: SyncTensorsGraph
# cause: constant
# subject: slice start
# new: 24
# advice: index_select | tensor
# reason: a slice has its bounds in the program, so each batch of a data set on the device has its own

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
inputs = torch.randn(32, 8).to(device)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for start in range(0, 32, 8):
    x = inputs[start:start + 8]  # <- cause
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
