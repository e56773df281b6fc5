# program: SyncTensorsGraph
# cause: constant
# old: an argument
# new: 1
# reason: the temperature is a number of the host, an argument until it is 1

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class DiscreteAutoencoder(nn.Module):
    def __init__(self, size=12, codes=8, width=6):
        super().__init__()
        self.encoder = nn.Linear(size, codes)
        self.codebook = nn.Parameter(torch.randn(codes, width) * 0.1)
        self.decoder = nn.Linear(width, size)

    def forward(self, x, temperature):
        logits = self.encoder(x)
        chosen = F.gumbel_softmax(logits, tau=temperature)  # <- cause
        return self.decoder(chosen @ self.codebook)


def temperature_at(step, start=4.0, end=1.0, decay=0.6):
    return max(end, start * decay ** step)


model = DiscreteAutoencoder().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(5):
    x = torch.randn(10, 12).to(device)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x, temperature_at(step)), x)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, temperature_at(step), loss.item())
