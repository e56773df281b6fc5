# program: SyncTensorsGraph
# cause: constant
# reason: the first step's rate is 0, which PyTorch/XLA writes into the program

import torch
import torch_xla
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

WARM_UP = 4
device = torch_xla.device()
torch.manual_seed(6)


def warm_up(step):
    return min(1.0, step / WARM_UP)


class TextClassifier(nn.Module):
    def __init__(self, vocabulary=40, width=12, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.out = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.out(self.embed(tokens).mean(1))


def batch():
    return torch.randint(40, (6, 7)).to(device), torch.randint(3, (6,)).to(device)


model = TextClassifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scheduler = LambdaLR(optimizer, warm_up)
torch_xla.sync()
for step in range(6):
    tokens, labels = batch()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()  # <- cause
    scheduler.step()
    torch_xla.sync()  # <- call
    print(step, scheduler.get_last_lr()[0], loss.item())
