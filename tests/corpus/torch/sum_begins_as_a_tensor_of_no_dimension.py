# program: SyncTensorsGraph
# cause: constant
# subject: add
# old: 0
# new: an argument
# reason: a tensor without dimensions that comes from the host is a number, and 0 is baked in

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(4, 3).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def accuracy(batches):
    right = torch.tensor(0).to(device)
    for x, y in batches:
        hits = model(x.to(device)).argmax(1) == y.to(device)
        right = right + hits.sum()  # <- cause
        torch_xla.sync()  # <- call
    return right.item()


print(accuracy([(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(3)]))
