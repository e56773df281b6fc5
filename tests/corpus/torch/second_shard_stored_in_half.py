# program: SyncTensorsGraph
# cause: dtype
# old: f32[8,12]
# new: f16[8,12]

import io

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(14)


def store(rows):
    file = io.BytesIO()
    torch.save(rows, file)
    return file


def shards():
    """Features of a frozen encoder; the newer shards are half as large."""
    yield store(torch.randn(16, 12))
    yield store(torch.randn(16, 12).half())


def loader():
    for shard in shards():
        shard.seek(0)
        for rows in torch.load(shard).split(8):
            yield rows.to(device)  # <- cause


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(12, 12)

    def forward(self, rows):
        return self.linear(rows.float())


model = Probe().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for rows in loader():
    optimizer.zero_grad()
    loss = (model(rows) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
print(loss.item())
