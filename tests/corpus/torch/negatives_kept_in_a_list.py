# program: SyncTensorsGraph
# cause: arguments
# pattern: growing
# reason: the keys of earlier batches are kept in a list, and all of them are read in each step

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(16)


class Memory:
    def __init__(self):
        self.keys = []

    def add(self, keys):
        self.keys.append(keys.to(device))

    def all(self):
        return torch.stack(self.keys).flatten(0, 1)  # <- cause


def contrast(queries, positives, negatives):
    near = (queries * positives).sum(1, keepdim=True)
    far = queries @ negatives.T
    logits = torch.cat([near, far], 1) / 0.1
    return -torch.log_softmax(logits, 1)[:, 0].mean()


model = nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
memory = Memory()
torch_xla.sync()
for step in range(7):
    x = torch.randn(6, 8)
    memory.add(torch.randn(6, 4))
    positives = torch.randn(6, 4).to(device)
    optimizer.zero_grad()
    loss = contrast(model(x.to(device)), positives, memory.all())
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
print(loss.item())
