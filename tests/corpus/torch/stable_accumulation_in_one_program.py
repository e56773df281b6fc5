# cause: stable
# reason: gradients are zeroed in place, the micro-batches of a step share its sync, and figures are read after it

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)


def micro_batches(x, y, count):
    yield from zip(x.chunk(count), y.chunk(count))


def train_step(model, optimizer, x, y):
    optimizer.zero_grad(set_to_none=False)
    total = torch.zeros(1, device=device)
    for part, labels in micro_batches(x, y, 2):
        loss = nn.functional.cross_entropy(model(part.to(device)), labels.to(device)) / 2
        loss.backward()
        total = total + loss.detach()
    optimizer.step()
    torch_xla.sync()
    return total


@torch.no_grad()
def evaluate(model, x, y):
    right = (model(x.to(device)).argmax(1) == y.to(device)).float().mean()
    torch_xla.sync()
    return right.item()


model = Model().to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)
torch_xla.sync()
data = TensorDataset(torch.randn(44, 9), torch.randint(3, (44,)))
held_out = torch.randn(12, 9), torch.randint(3, (12,))
for epoch in range(2):
    model.train()
    for x, y in DataLoader(data, batch_size=8, drop_last=True):
        total = train_step(model, optimizer, x, y)
    model.eval()
    print(epoch, total.item(), evaluate(model, *held_out))
