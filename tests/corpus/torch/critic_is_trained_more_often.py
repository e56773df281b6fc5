# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 4 tensors
# new: updates 8 tensors
# reason: the generator learns in every third step only, and both share a sync

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
generator = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).to(device)
critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.LeakyReLU(0.2), torch.nn.Linear(8, 1))
critic.to(device)
of_generator = torch.optim.SGD(generator.parameters(), lr=0.01)
of_critic = torch.optim.SGD(critic.parameters(), lr=0.01)
torch_xla.sync()
for step in range(6):
    real, noise = torch.randn(5, 3).to(device), torch.randn(5, 2).to(device)
    of_critic.zero_grad()
    loss = critic(generator(noise).detach()).mean() - critic(real).mean()
    loss.backward()
    of_critic.step()
    if step % 3 == 2:
        of_generator.zero_grad()
        loss_of_generator = -critic(generator(noise)).mean()
        loss_of_generator.backward()
        of_generator.step()  # <- cause
    torch_xla.sync()  # <- call
