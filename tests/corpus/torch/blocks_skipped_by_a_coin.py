# program: SyncTensorsGraph
# cause: structure
# reason: the last step leaves one residual layer out (stochastic depth, decided by the host)

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Residual(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(10, 10) for _ in range(count))
        self.head = nn.Linear(10, 1)

    def forward(self, x, dropped):
        for index, layer in enumerate(self.layers):
            if index not in dropped:
                x = x + torch.tanh(layer(x))  # <- cause
        return self.head(x)


model = Residual(4).to(device)
torch_xla.sync()
with torch.no_grad():
    for dropped in (set(), set(), {2}):
        x = torch.randn(6, 10).to(device)
        y = model(x, dropped)
        torch_xla.sync()  # <- call
        print(sorted(dropped), y.mean().item())
