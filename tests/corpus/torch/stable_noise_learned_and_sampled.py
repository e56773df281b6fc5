# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
steps = 5
kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, steps), 0).to(device)
model = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.SiLU(), torch.nn.Linear(16, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def denoise(x, t):
    return model(torch.cat([x, (t.float() / steps)[:, None]], 1))


for _ in range(4):
    x, t = torch.randn(8, 2).to(device), torch.randint(steps, (8,)).to(device)
    noise = torch.randn_like(x)
    share = kept[t][:, None]
    loss = (denoise(share.sqrt() * x + (1 - share).sqrt() * noise, t) - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()

with torch.no_grad():
    x = torch.randn(4, 2).to(device)
    for step in reversed(range(steps)):
        t = torch.full((4,), step).to(device)
        x = x - denoise(x, t) * (1 - kept[t])[:, None]
        torch_xla.sync()
print(loss.item(), x.mean().item())
