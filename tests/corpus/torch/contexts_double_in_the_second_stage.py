# program: SyncTensorsGraph
# cause: shape
# old: i64[4,9]
# new: i64[4,17]

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

TEXT = torch.tensor([ord(c) % 32 for c in "the owl and the pussycat went to sea in a pea green boat " * 4])
STAGES = [(0, 8), (3, 16)]  # from this step on, that many characters


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        queries, keys, values = self.mix(x).chunk(3, dim=-1)
        return self.out(F.scaled_dot_product_attention(queries, keys, values, is_causal=True))


class CharacterModel(nn.Module):
    def __init__(self, width=16, context=32):
        super().__init__()
        self.characters = nn.Embedding(32, width)
        self.places = nn.Embedding(context, width)
        self.attention = Attention(width)
        self.head = nn.Linear(width, 32)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.characters(ids) + self.places(places)
        return self.head(x + self.attention(x))


def context_at(step):
    return [length for since, length in STAGES if step >= since][-1]


def sample(step, rows=4):
    length = context_at(step) + 1
    starts = torch.randint(len(TEXT) - length, (rows,))
    return torch.stack([TEXT[start:start + length] for start in starts.tolist()])


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = CharacterModel().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch_xla.sync()
    for step in range(6):
        ids = sample(step).to(device)  # <- cause
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(loss.item())


main()
