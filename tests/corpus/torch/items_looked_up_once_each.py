# program: SyncTensorsGraph
# cause: shape
# old: i64[6]
# new: i64[4]
# reason: unique is computed on the host and comes back with as many items as there are

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

SESSIONS = [[[3, 7, 1, 3], [9, 1, 4, 2]],
            [[5, 6, 8, 5], [1, 2, 5, 0]],
            [[2, 2, 7, 7], [1, 9, 9, 1]]]
BOUGHT = [[4, 6], [2, 8], [3, 3]]


class NextItem(nn.Module):
    """Embeds each item of a batch once, mixes the rows and scores all items."""

    def __init__(self, items=10, width=12):
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.refine = nn.Sequential(nn.Linear(width, width), nn.Tanh())

    def forward(self, sessions):
        present, places = torch.unique(sessions, return_inverse=True)  # <- cause
        vectors = self.refine(self.items(present))
        session = vectors[places].mean(1)
        return session @ self.items.weight.T


def train(model, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for clicked, bought in zip(SESSIONS, BOUGHT):
        sessions = torch.tensor(clicked).to(device)
        bought = torch.tensor(bought).to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(sessions), bought)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        print(loss.item())


torch.manual_seed(0)
device = torch_xla.device()
model = NextItem().to(device)
torch_xla.sync()
train(model, device)
