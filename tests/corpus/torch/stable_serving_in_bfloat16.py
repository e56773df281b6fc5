# cause: stable
# reason: a server that pads each request to one length and reads its answer after the sync

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
LENGTH, BATCH = 16, 4


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.attend = nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, ids, padding):
        x = self.embed(ids)
        x = x + self.attend(x, x, x, key_padding_mask=padding, need_weights=False)[0]
        return self.head(torch.relu(x))


def pad(requests):
    ids = torch.zeros(BATCH, LENGTH, dtype=torch.long)
    for row, request in zip(ids, requests):
        row[:len(request)] = request
    return ids, ids == 0


model = Tagger().to(torch.bfloat16).to(device)
model.train(False)
torch_xla.sync()
served = 0
for sizes in ((5, 9, 3), (16, 2), (7, 7, 7, 12), (4,)):
    ids, padding = pad([torch.randint(1, 40, (size,)) for size in sizes])
    with torch.no_grad():
        tags = model(ids.to(device), padding.to(device)).float().softmax(-1).argmax(-1)
    torch_xla.sync()
    for row, size in zip(tags.cpu(), sizes):
        served += len(row[:size].tolist())
print(served)
