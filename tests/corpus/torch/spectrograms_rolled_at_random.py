# program: SyncTensorsGraph
# cause: constant
# advice: index_select | each value
# reason: how far a spectrogram is rolled is drawn on the host, and torch.roll takes it as a number only

import random

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(0)


def augment(spectrograms, furthest):
    shift = dice.randint(2, furthest)
    return torch.roll(spectrograms, shift, dims=-1)  # <- cause


class Classifier(nn.Module):
    def __init__(self, bands=6, classes=4):
        super().__init__()
        self.conv = nn.Conv1d(bands, 8, 3, padding=1)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).mean(-1))


model = Classifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(4):
    x, y = torch.randn(5, 6, 20).to(device), torch.randint(4, (5,)).to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(augment(x, 15)), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
