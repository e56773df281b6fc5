# program: SyncTensorsGraph
# cause: structure
# new: nothing
# reason: the mean of the observations is followed in the first updates only, then it is left as it is

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Normaliser:
    def __init__(self, size):
        self.mean = torch.zeros(size).to(device)
        self.frozen = False

    def __call__(self, observations):
        if not self.frozen:
            self.mean.lerp_(observations.mean(0), 0.05)  # <- cause
        return (observations - self.mean).clamp(-5, 5)


policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.02)
normaliser = Normaliser(4)
torch_xla.sync()
for update in range(6):
    normaliser.frozen = update >= 4
    observations = torch.randn(12, 4).to(device)
    actions, returns = torch.randint(2, (12,)).to(device), torch.randn(12).to(device)
    logits = policy(normaliser(observations))
    loss = (F.cross_entropy(logits, actions, reduction="none") * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(update, loss.item())
