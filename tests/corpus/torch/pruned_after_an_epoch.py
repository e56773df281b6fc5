# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[4,8]
# reason: pruning multiplies the weights by a mask that was not there before

import torch
import torch_xla
from torch.nn.utils import prune

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def train_epoch():
    for _ in range(2):
        x, y = torch.randn(6, 8).to(device), torch.randint(4, (6,)).to(device)
        loss = torch.nn.functional.cross_entropy(model(x), y)  # <- cause
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call


train_epoch()
prune.random_unstructured(model, "weight", amount=0.3)
torch_xla.sync()
train_epoch()
