# program: SyncTensorsGraph
# cause: shape
# old: i64[4,8]
# new: i64[4,16]
# reason: the collate function pads to the next multiple of eight, so a long sentence is in another bucket

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader

device = torch_xla.device()
torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, words=50, tags=6, width=8):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(2 * width, tags)

    def forward(self, ids):
        return self.tags(self.rnn(self.embed(ids))[0])


def collate(sentences):
    longest = max(len(ids) for ids, _ in sentences)
    length = (longest + 7) // 8 * 8
    ids = torch.zeros(len(sentences), length, dtype=torch.long)
    tags = torch.full((len(sentences), length), -100)
    for row, (words, labels) in enumerate(sentences):
        ids[row, :len(words)] = words
        tags[row, :len(labels)] = labels
    return ids, tags


lengths = [5, 8, 3, 6, 7, 4, 8, 2, 6, 6, 13, 4]
sentences = [(torch.randint(1, 50, (n,)), torch.randint(6, (n,))) for n in lengths]
loader = DataLoader(sentences, batch_size=4, collate_fn=collate)
model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for batch in loader:
    ids, tags = (tensor.to(device) for tensor in batch)  # <- cause
    optimizer.zero_grad()
    scores = model(ids)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten(), ignore_index=-100)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
