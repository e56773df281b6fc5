# program: SyncTensorsGraph
# cause: shape
# reason: the selected losses are an argument of another length; the backward pass reads the mask again

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(10)


def hard_loss(logits, targets, limit):
    losses = nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    hard = losses > limit
    return losses[hard].mean()  # <- cause, cut 3


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 20), nn.SiLU(), nn.Linear(20, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


model = Detector().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(5):
    x = torch.randn(24, 5)
    targets = (x[:, 0] > 0).float()
    loss = hard_loss(model(x.to(device)), targets.to(device), 0.7)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
