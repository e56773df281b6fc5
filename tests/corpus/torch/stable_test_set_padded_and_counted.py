# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH, CLASSES = 8, 4


def padded(batch):
    """Repeats the first row up to a full batch; the last column says which rows count."""
    missing = BATCH - len(batch)
    columns = [torch.stack(column) for column in zip(*batch)]
    columns = [torch.cat([column, column[:1].expand(missing, *column.shape[1:])])
               for column in columns]
    return *columns, (torch.arange(BATCH) < len(batch)).float()


class Confusion:
    def __init__(self, device):
        self.device = device
        self.counts = torch.zeros(CLASSES, CLASSES, device=device)

    def add(self, guessed, wanted, counted):
        hot = F.one_hot(wanted, CLASSES).float() * counted[:, None]
        self.counts += hot.T @ F.one_hot(guessed, CLASSES).float()

    def accuracy(self):
        counts = self.counts.cpu()
        return (counts.diagonal().sum() / counts.sum()).item()


def train(model, loader, optimizer, device):
    model.train()
    for x, y, counted in loader:
        x, y, counted = x.to(device), y.to(device), counted.to(device)
        optimizer.zero_grad()
        losses = F.cross_entropy(model(x), y, reduction="none")
        ((losses * counted).sum() / counted.sum()).backward()
        optimizer.step()
        torch_xla.sync()


@torch.no_grad()
def test(model, loader, device):
    model.eval()
    confusion = Confusion(device)
    torch_xla.sync()
    for x, y, counted in loader:
        confusion.add(model(x.to(device)).argmax(1), y.to(device), counted.to(device))
        torch_xla.sync()
    return confusion.accuracy()


def data(rows):
    return DataLoader(TensorDataset(torch.randn(rows, 5), torch.randint(CLASSES, (rows,))),
                      batch_size=BATCH, collate_fn=padded)


torch.manual_seed(0)
device = torch_xla.device()
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, CLASSES)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for epoch in range(2):
    train(model, data(20), optimizer, device)
    print(epoch, test(model, data(13), device))
