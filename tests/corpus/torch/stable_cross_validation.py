# cause: stable

import torch
import torch_xla
from torch.utils.data import DataLoader, Subset, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
data = TensorDataset(torch.randn(24, 6), torch.randint(3, (24,)))


def fit(rows):
    model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01)
    torch_xla.sync()
    for x, y in DataLoader(Subset(data, rows), batch_size=8, shuffle=True, drop_last=True):
        with torch_xla.step():
            loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


@torch.no_grad()
def score(model, rows):
    model.eval()
    right = torch.zeros((), dtype=torch.long, device=device)
    torch_xla.sync()
    for x, y in DataLoader(Subset(data, rows), batch_size=4):
        right += (model(x.to(device)).argmax(-1) == y.to(device)).sum()
        torch_xla.sync()
    return right.item() / len(rows)


for fold in range(3):
    held_out = range(8 * fold, 8 * fold + 8)
    model = fit([row for row in range(24) if row not in held_out])
    print(fold, score(model, held_out))
