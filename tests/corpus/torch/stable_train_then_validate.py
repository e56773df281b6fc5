# cause: stable
# reason: drop_last, a learning rate schedule, validation with its own sync, a checkpoint on the host

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
train = DataLoader(TensorDataset(torch.randn(22, 6), torch.randint(3, (22,))), batch_size=6, drop_last=True)
valid = DataLoader(TensorDataset(torch.randn(12, 6), torch.randint(3, (12,))), batch_size=6)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
torch_xla.sync()


def train_epoch():
    model.train()
    for x, y in train:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    scheduler.step()
    return loss.item()


@torch.no_grad()
def validate():
    model.eval()
    right = 0
    for x, y in valid:
        x, y = x.to(device), y.to(device)
        hits = (model(x).argmax(-1) == y).sum()
        torch_xla.sync()
        right += hits.item()
    return right / 12


for epoch in range(3):
    print(epoch, train_epoch(), validate())
    torch.save({name: value.cpu() for name, value in model.state_dict().items()}, "model.pt")
