# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: the penalty on the critic's gradient is lazy, as in StyleGAN2

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
critic = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Softplus(), torch.nn.Linear(12, 1)).to(device)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
torch_xla.sync()


def penalty(x):
    return torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0].square().sum(1).mean()  # <- cause


for step in range(3):
    real = torch.randn(8, 6).to(device).requires_grad_()
    fake = torch.randn(8, 6).to(device)
    loss = torch.nn.functional.softplus(critic(fake)).mean() + torch.nn.functional.softplus(-critic(real)).mean()
    if step % 3 == 2:
        loss = loss + 5 * penalty(real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
