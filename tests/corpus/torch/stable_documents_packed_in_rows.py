# cause: stable

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

LENGTH, WORDS = 24, 40
dice = random.Random(2)


def documents():
    while True:
        yield [dice.randrange(2, WORDS) for _ in range(dice.randint(3, 15))]


def pack(source, rows):
    """Fills rows of one length; a second array says which document each word belongs to."""
    ids, owners = torch.zeros(rows, LENGTH, dtype=torch.long), torch.zeros(rows, LENGTH, dtype=torch.long)
    for row in range(rows):
        at, owner = 0, 1
        while at < LENGTH:
            words = next(source)[:LENGTH - at]
            ids[row, at:at + len(words)] = torch.tensor(words)
            owners[row, at:at + len(words)] = owner
            at, owner = at + len(words), owner + 1
    return ids, owners


class PackedModel(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.mix, self.head = nn.Linear(width, 3 * width), nn.Linear(width, WORDS)

    def forward(self, ids, owners):
        x = self.words(ids)
        queries, keys, values = self.mix(x).chunk(3, -1)
        seen = (owners[:, :, None] == owners[:, None]).tril()
        return self.head(x + F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen))


def loss_of(model, ids, owners):
    losses = F.cross_entropy(model(ids, owners)[:, :-1].flatten(0, 1), ids[:, 1:].flatten(),
                             reduction="none")
    counts = (owners[:, 1:] == owners[:, :-1]).flatten()
    return torch.where(counts, losses, 0).sum() / counts.sum()


torch.manual_seed(0)
device = torch_xla.device()
model, source = PackedModel().to(device), documents()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(5):
    ids, owners = (column.to(device) for column in pack(source, 3))
    optimizer.zero_grad()
    loss = loss_of(model, ids, owners)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.5)
    optimizer.step()
    torch_xla.sync()
    print(step, loss.item())
