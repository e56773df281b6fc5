# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: 0
# new: an argument
# reason: numbers of the host are arguments, but 0 is a constant: the weight of the first step

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, pixels=24, width=16, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.ReLU())
        self.mean, self.logvar = nn.Linear(width, latent), nn.Linear(width, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, pixels))

    def forward(self, x):
        h = self.encoder(x)
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + torch.randn_like(mean) * (logvar * 0.5).exp()
        return self.decoder(z), mean, logvar


def elbo_loss(x, output, mean, logvar, beta):
    reconstruction = F.binary_cross_entropy_with_logits(output, x, reduction="sum") / len(x)
    divergence = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum(1).mean()
    return reconstruction + beta * divergence  # <- cause


model = VAE().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.rand(30, 24).round()
warm_up = 10
torch_xla.sync()
for step, x in enumerate(data.split(6)):
    x = x.to(device)
    beta = min(0.9, step / warm_up)
    optimizer.zero_grad()
    loss = elbo_loss(x, *model(x), beta)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(f"step {step} beta {beta:.2f} loss {loss.item():.3f}")
