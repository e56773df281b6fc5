# cause: stable
# reason: generator and critic have a step and a sync each; what is saved goes to the host

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


def generator():
    return torch.nn.Sequential(torch.nn.Linear(4, 10), torch.nn.LeakyReLU(0.2), torch.nn.Linear(10, 3))


def critic():
    return torch.nn.Sequential(torch.nn.Linear(3, 10), torch.nn.LeakyReLU(0.2), torch.nn.Linear(10, 1))


class Gan:
    def __init__(self):
        self.generator = generator().to(device)
        self.critic = critic().to(device)
        self.first = torch.optim.SGD(self.generator.parameters(), lr=0.02)
        self.second = torch.optim.SGD(self.critic.parameters(), lr=0.02)
        torch_xla.sync()

    def critic_step(self, real, noise):
        with torch.no_grad():
            fake = self.generator(noise)
        self.second.zero_grad()
        loss = F.softplus(self.critic(fake)).mean() + F.softplus(-self.critic(real)).mean()
        loss.backward()
        self.second.step()
        torch_xla.sync()
        return loss

    def generator_step(self, noise):
        self.first.zero_grad()
        loss = F.softplus(-self.critic(self.generator(noise))).mean()
        gradients = torch.autograd.grad(loss, list(self.generator.parameters()))
        for p, g in zip(self.generator.parameters(), gradients):
            p.grad = g
        self.first.step()
        torch_xla.sync()
        return loss

    def saved(self):
        return {name: value.cpu() for name, value in self.generator.state_dict().items()}


gan = Gan()
for index in range(5):
    real = torch.randn(8, 3) + 2
    one = gan.critic_step(real.to(device), torch.randn(8, 4).to(device))
    two = gan.generator_step(torch.randn(8, 4).to(device))
    if index % 2 == 0:
        print(index, one.item(), two.item())
print(sum(value.norm().item() for value in gan.saved().values()))
