# program: SyncTensorsGraph
# cause: constant
# pattern: counter
# reason: the keys of each batch replace the oldest ones, at a place that the host counts

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Contrast(nn.Module):
    def __init__(self, width=8, places=20):
        super().__init__()
        self.queries, self.keys = nn.Linear(10, width), nn.Linear(10, width)
        self.keys.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(width, places), dim=0))
        self.pointer = 0

    def forward(self, first, second):
        queries = F.normalize(self.queries(first), dim=1)
        with torch.no_grad():
            keys = F.normalize(self.keys(second), dim=1)
        positive = (queries * keys).sum(1, keepdim=True)
        negative = queries @ self.queue.clone()
        return torch.cat([positive, negative], 1) / 0.2, keys

    @torch.no_grad()
    def push(self, keys):
        at = self.pointer
        self.queue[:, at:at + len(keys)] = keys.T  # <- cause
        self.pointer = (at + len(keys)) % self.queue.shape[1]


model = Contrast().to(device)
optimizer = torch.optim.SGD(model.queries.parameters(), lr=0.1)
target = torch.zeros(4, dtype=torch.long).to(device)
torch_xla.sync()
for step in range(5):
    first, second = torch.randn(4, 10).to(device), torch.randn(4, 10).to(device)
    optimizer.zero_grad()
    logits, keys = model(first, second)
    loss = F.cross_entropy(logits, target)
    loss.backward()
    optimizer.step()
    model.push(keys)
    torch_xla.sync()  # <- call
    print(step, loss.item())
