# program: SyncTensorsGraph
# cause: structure
# old: 3 times
# new: 5 times
# reason: a world model is unrolled for more steps in the second phase; its cell is one for all of them

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
policy, world = nn.Linear(8, 3).to(device), nn.GRUCell(3, 8).to(device)
reward = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for module in (world, reward):
    module.requires_grad_(False)
torch_xla.sync()


def imagined(state, horizon):
    for _ in range(horizon):
        state = world(policy(state).tanh(), state)  # <- cause
    return reward(state).mean()


for step in range(4):
    loss = -imagined(torch.randn(6, 8).to(device), horizon=5 if step == 3 else 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
