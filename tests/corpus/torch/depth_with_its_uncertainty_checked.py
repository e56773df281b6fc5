# program: SyncTensorsGraph
# cause: first
# reason: gaussian_nll_loss asks the host whether a variance is negative, in the middle of each step

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Depth(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.body = nn.Conv2d(3, width, 3, padding=1)
        self.mean = nn.Conv2d(width, 1, 1)
        self.spread = nn.Conv2d(width, 1, 1)

    def forward(self, pictures):
        features = torch.relu(self.body(pictures))
        return self.mean(features), F.softplus(self.spread(features))


model = Depth().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()
for step in range(4):
    pictures, depth = torch.rand(2, 3, 8, 8).to(device), torch.rand(2, 1, 8, 8).to(device)
    optimizer.zero_grad()
    mean, variance = model(pictures)
    loss = F.gaussian_nll_loss(mean, depth, variance)  # <- cut
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
    print(step, loss.item())
