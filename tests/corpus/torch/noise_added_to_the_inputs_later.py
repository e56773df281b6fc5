# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: from the third epoch on, the inputs are disturbed on the device

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(11)


class Augment(nn.Module):
    def __init__(self, strength):
        super().__init__()
        self.strength = strength
        self.active = False

    def forward(self, x):
        if self.active:
            x = x + self.strength * torch.randn_like(x)  # <- cause
        return x


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.augment = Augment(0.3)
        self.net = nn.Sequential(nn.Linear(10, 6), nn.Tanh(), nn.Linear(6, 10))

    def forward(self, x):
        return self.net(self.augment(x))


model = Denoiser().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for epoch in range(4):
    model.augment.active = epoch >= 2
    for _ in range(2):
        x = torch.randn(8, 10).to(device)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
