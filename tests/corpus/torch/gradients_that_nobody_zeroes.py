# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# advice: !load_state_dict
# reason: the optimizer has the head only, so that its zero_grad leaves the gradients of the body

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
body = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU()).to(device)
head = torch.nn.Linear(12, 3).to(device)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
criterion = torch.nn.CrossEntropyLoss()
torch_xla.sync()
for step in range(4):
    x, y = torch.randn(8, 6).to(device), torch.randint(3, (8,)).to(device)
    loss = criterion(head(body(x)), y)
    optimizer.zero_grad()
    loss.backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
