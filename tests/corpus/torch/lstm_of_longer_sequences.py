# program: SyncTensorsGraph
# cause: shape
# old: i64[4,5]
# new: i64[4,7]
# advice: Pad
# reason: an LSTM is recorded step by step, so that a longer sequence has more operations

import torch
import torch_xla
from torch.nn.utils.rnn import pad_sequence

device = torch_xla.device()
torch.manual_seed(0)


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(32, 8)
        self.lstm = torch.nn.LSTM(8, 8, batch_first=True)
        self.out = torch.nn.Linear(8, 4)

    def forward(self, ids):
        states, _ = self.lstm(self.embed(ids))
        return self.out(states[:, -1])


def collate(lengths):
    return pad_sequence([torch.randint(1, 32, (n,)) for n in lengths], batch_first=True)


model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
labels = torch.randint(4, (4,)).to(device)
torch_xla.sync()
for lengths in ((5, 3, 4, 2), (2, 5, 5, 1), (7, 3, 6, 2)):
    ids = collate(lengths).to(device)  # <- cause
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(ids), labels).backward()
    optimizer.step()
    torch_xla.sync()  # <- call
