# cause: stable
# run: 0 2
# run: 2 4

import pathlib
import sys

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
first, last = map(int, sys.argv[1:])
torch.manual_seed(7 + first)
CHECKPOINT = pathlib.Path("translator.pt")
LENGTH, PLACES = 7, 4


class Translator(nn.Module):
    def __init__(self, words=24, width=10):
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(2 * width, words)

    def forward(self, source, target):
        memory, state = self.encoder(self.source(source))
        decoded, _ = self.decoder(self.target(target), state)
        weights = (decoded @ memory.transpose(1, 2) / 3.2).softmax(-1)
        return self.out(torch.cat([decoded, weights @ memory], -1))


def padded(rows):
    return torch.stack([F.pad(row, (0, LENGTH - len(row))) for row in rows]).to(device)


def sentences():
    return [torch.randint(1, 24, (torch.randint(2, LENGTH + 1, ()).item(),)) for _ in range(6)]


model = Translator()
if CHECKPOINT.exists():
    model.load_state_dict(torch.load(CHECKPOINT))
model.to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.93 ** (step + 2))
losses = torch.full((PLACES,), float("inf")).to(device)
place = torch.zeros(1, dtype=torch.long).to(device)
torch_xla.sync()
for epoch in range(first, last):
    for _ in range(4):
        source, target = padded(sentences()), padded(sentences())
        optimizer.zero_grad()
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.index_copy_(0, place, loss.detach()[None])
        place.add_(1).remainder_(PLACES)
        torch_xla.sync()
    print(epoch, losses.cpu().tolist())
torch.save({name: value.cpu() for name, value in model.state_dict().items()}, CHECKPOINT)
