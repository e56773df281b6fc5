# program: SyncTensorsGraph
# cause: size
# subject: slice limit
# old: 8
# new: 4
# reason: the share of the hardest examples falls with the epochs

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(5, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def hardest(losses, share):
    keep = int(len(losses) * share)
    return losses.sort(descending=True).values[:keep].mean()  # <- cause


for epoch, share in enumerate((0.5, 0.5, 0.25)):
    x, y = torch.randn(16, 5).to(device), torch.randint(3, (16,)).to(device)
    losses = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    loss = hardest(losses, share)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
