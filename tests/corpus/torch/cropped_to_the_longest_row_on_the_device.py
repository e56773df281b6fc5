# program: SyncTensorsGraph
# cause: host_read

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(8)
PAD = 0


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.score = nn.Linear(8, 1)

    def forward(self, tokens):
        real = tokens != PAD
        longest = int(real.sum(1).max())  # <- cause, cut
        tokens, real = tokens[:, :longest], real[:, :longest]
        x = self.embed(tokens) * real[..., None]
        return self.score(x.sum(1))[:, 0]


def padded(lengths):
    rows = torch.zeros(len(lengths), 12, dtype=torch.long)
    for row, length in zip(rows, lengths):
        row[:length] = torch.randint(1, 20, (length,))
    return rows.to(device)


model = Scorer().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for lengths in ((4, 7, 5), (9, 2, 3), (6, 6, 1), (8, 3, 2), (5, 11, 4)):
    scores = model(padded(lengths))  # <- call
    loss = (scores - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
