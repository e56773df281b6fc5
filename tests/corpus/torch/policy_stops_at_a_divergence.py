# program: SyncTensorsGraph
# cause: first
# reason: PPO asks how far the policy has moved before it goes back

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.02)
states = torch.randn(12, 4).to(device)
actions = torch.randint(3, (12, 1)).to(device)
advantages = torch.randn(12).to(device)
with torch.no_grad():
    before = policy(states).log_softmax(-1).gather(1, actions).squeeze(1)
torch_xla.sync()
for epoch in range(5):
    now = policy(states).log_softmax(-1).gather(1, actions).squeeze(1)
    ratio = (now - before).exp()
    clipped = ratio.clamp(0.8, 1.2)
    loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
    divergence = (before - now).mean()
    if divergence.item() > 0.5:  # <- cut
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
