# program: SyncTensorsGraph
# cause: arguments
# pattern: subsets
# advice: same keys
# reason: some records have a weight, some a mask of what was measured, some both

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def records():
    for extra in ((), ("weight",), ("measured",), ("weight", "measured"), ()):
        record = {"x": torch.randn(8, 6), "y": torch.randn(8, 3)}
        if "weight" in extra:
            record["weight"] = torch.rand(8, 1)
        if "measured" in extra:
            record["measured"] = (torch.rand(8, 3) > 0.3).float()
        yield record


def loss_of(batch):
    errors = (model(batch["x"]) - batch["y"]).square()
    if "weight" in batch:
        errors = errors * batch["weight"]
    if "measured" in batch:
        errors = errors * batch["measured"]
    return errors.mean()


for record in records():
    batch = {name: value.to(device) for name, value in record.items()}  # <- cause
    optimizer.zero_grad()
    loss = loss_of(batch)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(sorted(batch), loss.item())
