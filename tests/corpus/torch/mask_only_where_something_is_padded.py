# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: bool[3,6]
# advice: same
# reason: the collator leaves the mask out where all rows are full

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(30, 8, padding_idx=0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = torch.nn.Linear(8, 2)

    def forward(self, ids, padded):
        return self.out(self.encoder(self.embed(ids), src_key_padding_mask=padded)[:, 0])


def collate(rows, length=6):
    ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
    padded = ids == 0
    return ids, padded if padded.any() else None


reader = Reader().to(device)
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
labels = torch.tensor([0, 1, 1]).to(device)
torch_xla.sync()
texts = [[[5, 3, 9, 1, 2, 8], [4, 4, 7, 1, 1, 2], [9, 8, 7, 6, 5, 4]],
         [[2, 2, 9, 1, 2, 1], [1, 4, 3, 1, 6, 2], [3, 8, 5, 6, 5, 4]],
         [[5, 3, 9], [4, 4, 7, 1, 1, 2], [9, 8]]]
for rows in texts:
    ids, padded = collate(rows)
    if padded is not None:
        padded = padded.to(device)  # <- cause
    loss = torch.nn.functional.cross_entropy(reader(ids.to(device), padded), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
