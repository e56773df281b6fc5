# program: SyncTensorsGraph
# cause: constant
# subject: power
# old: 1.5
# new: 2.5

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(13)


class FocalLoss(nn.Module):
    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, targets):
        log_p = nn.functional.log_softmax(logits, -1).gather(1, targets[:, None])[:, 0]
        return -((1 - log_p.exp()) ** self.gamma * log_p).mean()  # <- cause


def batches(count):
    for _ in range(count):
        yield torch.randn(10, 6).to(device), torch.randint(4, (10,)).to(device)


model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = FocalLoss(1.5)
torch_xla.sync()
for epoch in range(4):
    if epoch == 2:
        criterion.gamma = 2.5
    for x, targets in batches(2):
        optimizer.zero_grad()
        loss = criterion(model(x), targets)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
