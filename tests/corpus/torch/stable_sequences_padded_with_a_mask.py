# cause: stable

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader

device = torch_xla.device()
torch.manual_seed(0)
LENGTH = 12


class Classifier(nn.Module):
    def __init__(self, words=40, width=16, classes=3):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, ids, valid):
        x = self.words(ids) + self.places
        x = self.layer(x, src_key_padding_mask=~valid)
        kept = valid[..., None].float()
        return self.head((x * kept).sum(1) / kept.sum(1))


def collate(rows):
    ids = torch.zeros(len(rows), LENGTH, dtype=torch.long)
    for place, (words, _) in enumerate(rows):
        ids[place, :len(words)] = words
    return ids, ids != 0, torch.tensor([label for _, label in rows])


def moved(batch):
    return [tensor.to(device, non_blocking=True) for tensor in batch]


rows = [(torch.randint(1, 40, (int(n),)), int(n) % 3) for n in torch.randint(3, LENGTH + 1, (22,))]
training = DataLoader(rows[:14], batch_size=4, shuffle=True, drop_last=True, collate_fn=collate)
testing = DataLoader(rows[14:], batch_size=4, collate_fn=collate)
model = Classifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    model.train()
    for batch in training:
        ids, valid, labels = moved(batch)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids, valid), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    model.eval()
    right = torch.zeros(1, dtype=torch.long).to(device)
    with torch.no_grad():
        for batch in testing:
            ids, valid, labels = moved(batch)
            right += (model(ids, valid).argmax(-1) == labels).sum()
            torch_xla.sync()
    print(epoch, loss.item(), right.item() / 8)
