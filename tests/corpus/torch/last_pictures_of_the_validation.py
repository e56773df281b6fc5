# program: SyncTensorsGraph
# cause: shape
# old: f32[8,1,8,8]
# new: f32[3,1,8,8]
# reason: 19 pictures for validation in batches of 8; the loader keeps the short one

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3, stride=2)
        self.head = torch.nn.Linear(36, 5)

    def forward(self, pictures):
        return self.head(torch.relu(self.conv(pictures)).flatten(1))


def dataset(count):
    return TensorDataset(torch.randn(count, 1, 8, 8), torch.randint(5, (count,)))


def train(model, optimizer, loader):
    for pictures, labels in loader:
        pictures, labels = pictures.to(device), labels.to(device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()
        torch_xla.sync()


@torch.no_grad()
def validate(model, loader):
    found = []
    for pictures, _ in loader:
        found.append(model(pictures.to(device)).argmax(dim=1))  # <- cause
        torch_xla.sync()  # <- call
    return torch.cat([some.cpu() for some in found])


model = Network().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
train(model, optimizer, DataLoader(dataset(16), batch_size=8, drop_last=True))
print(validate(model, DataLoader(dataset(19), batch_size=8)))
