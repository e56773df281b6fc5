# program: SyncTensorsGraph
# cause: first
# reason: huber_loss is computed on the host, and so are its gradients

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(4):
    features = torch.randn(16, 5)
    prices = features.sum(1) + 0.1 * torch.randn(16)
    features, prices = features.to(device), prices.to(device)
    guess = model(features).squeeze(1)
    loss = F.huber_loss(guess, prices, delta=0.5)  # <- cut 3
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
