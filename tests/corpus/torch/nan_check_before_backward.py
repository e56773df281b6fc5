# program: SyncTensorsGraph
# cause: first
# reason: a batch whose loss is not finite is skipped, so the host asks for the loss in the middle of the step

import math

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(12, 6), nn.GELU(), nn.Linear(6, 3))
        self.decode = nn.Sequential(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 12))

    def forward(self, x):
        return self.decode(self.encode(x))


model = Autoencoder().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
skipped = 0
for step in range(6):
    x = torch.randn(8, 12).to(device)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x)
    if not math.isfinite(loss.item()):  # <- cut
        skipped += 1
        continue
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print(skipped)
