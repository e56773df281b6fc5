# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[...
# reason: the warm-up has no momentum; its buffers are made in the first step that has, and are inputs of the next

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
WARM_UP = 3


def adjust(optimizer, step):
    warm = step < WARM_UP
    for group in optimizer.param_groups:
        group["lr"] = 0.01 * (step + 2) if warm else 0.06
        group["momentum"] = 0.0 if warm else 0.9


class Ranker(nn.Module):
    def __init__(self, items=30, width=6):
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.score = nn.Linear(width, 1)

    def forward(self, items):
        return self.score(self.items(items)).squeeze(-1)


model = Ranker().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()
for step in range(6):
    adjust(optimizer, step)
    liked, passed = torch.randint(30, (9,)).to(device), torch.randint(30, (9,)).to(device)
    optimizer.zero_grad()
    loss = -F.logsigmoid(model(liked) - model(passed)).mean()
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    print(step, loss.item())
