# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
LATENT = 6


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 24), nn.LeakyReLU(0.2), nn.Linear(24, outputs))


class Pair:
    """Two networks against each other; each has an optimizer and a sync of its own."""

    def __init__(self):
        self.generator, self.critic = network(LATENT, 2).to(device), network(2, 1).to(device)
        self.of_generator = torch.optim.SGD(self.generator.parameters(), lr=0.02)
        self.of_critic = torch.optim.SGD(self.critic.parameters(), lr=0.02)
        torch_xla.sync()

    def train_critic(self, real):
        with torch.no_grad():
            fake = self.generator(torch.randn(len(real), LATENT, device=device))
        loss = F.softplus(-self.critic(real)).mean() + F.softplus(self.critic(fake)).mean()
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        torch_xla.sync()
        return loss

    def train_generator(self, count):
        self.critic.requires_grad_(False)
        fake = self.generator(torch.randn(count, LATENT, device=device))
        loss = F.softplus(-self.critic(fake)).mean()
        self.of_generator.zero_grad()
        loss.backward()
        self.of_generator.step()
        torch_xla.sync()
        self.critic.requires_grad_(True)
        return loss


def ring(count):
    angles = torch.rand(count) * 6.283
    return torch.stack([angles.cos(), angles.sin()], 1)


pair = Pair()
for step in range(6):
    of_critic = pair.train_critic(ring(16).to(device))
    if step % 2:
        of_generator = pair.train_generator(16)
        print(step, of_critic.item(), of_generator.item())
