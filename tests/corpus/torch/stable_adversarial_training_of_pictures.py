# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
LATENT = 6
pictures = TensorDataset(torch.rand(20, 1, 8, 8))
loader = DataLoader(pictures, batch_size=6, shuffle=True, drop_last=True)
generator = nn.Sequential(nn.Linear(LATENT, 32), nn.LeakyReLU(0.2), nn.Linear(32, 64), nn.Sigmoid(),
                          nn.Unflatten(1, (1, 8, 8))).to(device)
critic = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.LeakyReLU(0.2), nn.Flatten(),
                       nn.Linear(36, 1)).to(device)
of_generator = torch.optim.SGD(generator.parameters(), lr=0.05)
of_critic = torch.optim.SGD(critic.parameters(), lr=0.04)
losses_of_generator = torch.zeros(1).to(device)
torch_xla.sync()


def train_critic(real, noise):
    of_critic.zero_grad()
    fake = generator(noise).detach()
    loss = F.softplus(critic(fake)).mean() + F.softplus(-critic(real)).mean()
    loss.backward()
    of_critic.step()
    torch_xla.sync()
    return loss


def train_generator(noise):
    of_generator.zero_grad()
    of_critic.zero_grad()
    loss = F.softplus(-critic(generator(noise))).mean()
    loss.backward()
    of_generator.step()
    losses_of_generator.add_(loss.detach())
    torch_xla.sync()


for epoch in range(2):
    for (real,) in loader:
        loss = train_critic(real.to(device), torch.randn(6, LATENT).to(device))
        train_generator(torch.randn(6, LATENT).to(device))
    print(epoch, loss.item(), losses_of_generator.item())
