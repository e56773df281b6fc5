# cause: stable
# reason: full batches, a test that is padded on the host, the loss read after the sync

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
BATCH = 8


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 16)
        self.norm = torch.nn.LayerNorm(16)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.last(torch.nn.functional.gelu(self.norm(self.first(x))))


def padded(x, labels):
    missing = BATCH - len(x)
    mask = torch.cat([torch.ones(len(x)), torch.zeros(missing)])
    return (torch.cat([x, torch.zeros(missing, 6)]),
            torch.cat([labels, torch.zeros(missing, dtype=torch.long)]), mask)


def train(model, optimizer, loader):
    for x, labels in loader:
        x, labels = x.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.item()


@torch.no_grad()
def test(model, loader):
    hits = 0.0
    for x, labels in loader:
        x, labels, mask = (part.to(device) for part in padded(x, labels))
        right = ((model(x).argmax(dim=1) == labels) * mask).sum()
        torch_xla.sync()
        hits += right.item()
    return hits


def data(count):
    return TensorDataset(torch.randn(count, 6), torch.randint(4, (count,)))


model = Network().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
training = DataLoader(data(28), batch_size=BATCH, shuffle=True, drop_last=True)
testing = DataLoader(data(13), batch_size=BATCH)
for epoch in range(3):
    print(epoch, train(model, optimizer, training), test(model, testing))
