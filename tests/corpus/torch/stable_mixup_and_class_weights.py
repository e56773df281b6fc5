# cause: stable

import random

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def mixed(x, y, share):
    order = torch.randperm(len(x)).to(x.device)
    return share * x + (1 - share) * x[order], y, y[order]


for step in range(5):
    share = dice.betavariate(0.8, 0.8)
    labels = torch.randint(3, (8,))
    counts = torch.bincount(labels, minlength=3) + 1
    weight = (counts.sum() / counts).to(device)
    x, first, second = mixed(torch.randn(8, 6).to(device), labels.to(device), share)
    logits = model(x)
    loss = share * torch.nn.functional.cross_entropy(logits, first, weight=weight)
    loss = loss + (1 - share) * torch.nn.functional.cross_entropy(logits, second, weight=weight)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print(loss.item())
