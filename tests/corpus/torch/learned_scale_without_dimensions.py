# program: SyncTensorsGraph
# cause: donation
# old: kept
# new: donated

import math

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(17)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.Linear(10, 6)
        self.texts = nn.Linear(7, 6)
        self.scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, images, texts):
        a = nn.functional.normalize(self.images(images), dim=-1)
        b = nn.functional.normalize(self.texts(texts), dim=-1)
        return self.scale.exp() * a @ b.T


def loss_fn(logits, labels):
    return (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.T, labels)) / 2


model = TwoTowers().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
labels = torch.arange(8).to(device)
torch_xla.sync()
for step in range(4):
    images, texts = torch.randn(8, 10).to(device), torch.randn(8, 7).to(device)
    optimizer.zero_grad()
    loss = loss_fn(model(images, texts), labels)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
print(loss.item())
