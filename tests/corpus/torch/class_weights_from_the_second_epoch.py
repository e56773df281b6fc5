# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[4]
# reason: the loss gets weights of the classes once the first epoch has counted them

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
labels = torch.multinomial(torch.tensor([0.6, 0.2, 0.1, 0.1]), 24, replacement=True)
data = TensorDataset(torch.randn(24, 3, 8, 8), labels)
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(54, 4))
model = model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def balanced(counts):
    weights = counts.sum() / (len(counts) * counts.clamp(min=1.0))
    return weights.to(device)  # <- cause


counts = torch.zeros(4)
weight = None
torch_xla.sync()
for epoch in range(2):
    for images, targets in loader:
        if epoch == 0:
            counts += torch.bincount(targets, minlength=4)
        images, targets = images.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), targets, weight=weight)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    if weight is None:
        weight = balanced(counts)
    print(f"epoch {epoch}: {loss.item():.4f}")
