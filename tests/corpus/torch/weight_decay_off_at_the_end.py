# program: SyncTensorsGraph
# cause: structure
# new: nothing
# reason: SGD leaves out the decay where it is 0

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=5e-4)
torch_xla.sync()
for epoch in range(4):
    if epoch == 3:
        optimizer.param_groups[0]["weight_decay"] = 0.0
    x, y = torch.randn(6, 8).to(device), torch.randint(3, (6,)).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    print(epoch, loss.item())
