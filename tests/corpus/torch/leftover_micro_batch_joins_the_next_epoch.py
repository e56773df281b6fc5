# program: SyncTensorsGraph
# cause: arguments
# old: absent
# reason: five batches an epoch, two a step: the fifth stays recorded, so the next epoch's first step has three

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
data = TensorDataset(torch.randn(20, 6), torch.randint(3, (20,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 2
torch_xla.sync()
optimizer.zero_grad()
for epoch in range(2):
    for number, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)  # <- cause
        loss = F.cross_entropy(model(x), y) / accumulate
        loss.backward()
        if (number + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            shown = loss.detach()
            torch_xla.sync()  # <- call
    print(epoch, shown.item() * accumulate)
