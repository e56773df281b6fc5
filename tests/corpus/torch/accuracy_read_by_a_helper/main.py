# program: SyncTensorsGraph
# cause: first
# reason: a helper reads the accuracy of each batch before the step is ended

import torch
import torch_xla
from metrics import Average, accuracy

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
right = Average()
torch_xla.sync()
for step in range(4):
    x, y = torch.randn(8, 6).to(device), torch.randint(3, (8,)).to(device)
    logits = model(x)
    loss = torch.nn.functional.cross_entropy(logits, y)
    right.add(accuracy(logits, y), len(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
print(right.value())
