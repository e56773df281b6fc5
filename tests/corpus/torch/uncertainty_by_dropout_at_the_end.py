# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: predictions are made without dropout, and at last again with it, to see how far they vary

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 20)
        self.dropout = nn.Dropout(0.3)
        self.out = nn.Linear(20, 1)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        h = self.dropout(h)  # <- cause
        return self.out(h)


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for _ in range(steps):
        x, y = torch.randn(8, 5).to(device), torch.randn(8, 1).to(device)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        torch_xla.sync()


@torch.no_grad()
def predict(model, x, sampled=False):
    model.eval()
    if sampled:
        model.dropout.train()
    y = model(x.to(device))
    torch_xla.sync()  # <- call
    return y.cpu()


model = Regressor().to(device)
torch_xla.sync()
train(model, 3)
x = torch.randn(12, 5)
print(predict(model, x).mean())
print(predict(model, x + 0.1).mean())
print(torch.stack([predict(model, x, sampled=True) for _ in range(3)]).std(0).mean())
