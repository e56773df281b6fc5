# program: SyncTensorsGraph
# cause: constant
# old: an argument
# new: 1
# reason: the weight of the auxiliary loss is a number of the host, written into the graph when it is 1

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.label, self.domain = nn.Linear(16, 3), nn.Linear(16, 2)

    def forward(self, x):
        x = self.body(x)
        return self.label(x), self.domain(x)


model = TwoHeads().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
RAMP = [0.25, 0.5, 0.75, 1.0]
for epoch, weight in enumerate(RAMP):
    for _ in range(2):
        x = torch.randn(6, 8).to(device)
        y, d = torch.randint(3, (6,)).to(device), torch.randint(2, (6,)).to(device)
        optimizer.zero_grad()
        label, domain = model(x)
        loss = F.cross_entropy(label, y) + weight * F.cross_entropy(domain, d)  # <- cause
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, weight, loss.item())
