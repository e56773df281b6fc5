# program: SyncTensorsGraph
# cause: structure
# new: nothing
# reason: the auxiliary classifier helps in the first epoch only; its weights go with it

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
stem, tail = torch.nn.Linear(8, 12).to(device), torch.nn.Linear(12, 3).to(device)
auxiliary = torch.nn.Linear(12, 3).to(device)
optimizer = torch.optim.SGD([*stem.parameters(), *tail.parameters(), *auxiliary.parameters()], lr=0.1)
torch_xla.sync()
for epoch in range(2):
    for _ in range(2):
        x, y = torch.randn(6, 8).to(device), torch.randint(3, (6,)).to(device)
        hidden = torch.relu(stem(x))
        loss = torch.nn.functional.cross_entropy(tail(hidden), y)
        if epoch == 0:
            loss = loss + 0.3 * torch.nn.functional.cross_entropy(auxiliary(hidden), y)  # <- cause
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
