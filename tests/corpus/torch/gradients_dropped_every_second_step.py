# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(19)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 12)
        self.head = nn.Linear(12, 3)

    def forward(self, state):
        return torch.log_softmax(self.head(torch.tanh(self.body(state))), -1)


def reinforce(policy, state, action, reward):
    return -(policy(state).gather(1, action[:, None])[:, 0] * reward).mean()


def episode():
    return torch.randn(9, 5).to(device), torch.randint(3, (9,)).to(device), torch.randn(9).to(device)


policy = Policy().to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
torch_xla.sync()
for number in range(6):
    if number % 2 == 0:  # two episodes make one gradient; each moves the policy a little
        optimizer.zero_grad()
    loss = reinforce(policy, *episode())
    loss.backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
print(loss.item())
