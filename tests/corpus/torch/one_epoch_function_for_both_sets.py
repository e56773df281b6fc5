# program: SyncTensorsGraph
# cause: constant
# subject: add
# old: 0
# new: an argument
# reason: the total begins at zero in each epoch, beside the sync that training and evaluation share

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(12)


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    total = torch.zeros(()).to(device)
    with torch.set_grad_enabled(training):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = nn.functional.l1_loss(model(x), y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total = total + loss.detach()  # <- cause
            torch_xla.sync()  # <- call
    return total.item() / len(loader)


def synthetic(count):
    batches = []
    for _ in range(count):
        x = torch.randn(8, 4)
        batches.append((x, x.max(1, keepdim=True).values))
    return batches


model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
training, validation = synthetic(3), synthetic(2)
for epoch in range(2):
    print(epoch, run_epoch(model, training, optimizer), run_epoch(model, validation))
