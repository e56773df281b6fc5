# program: SyncTensorsGraph
# cause: dtype
# old: f32[8]
# new: f64[8]
# advice: .to(dtype)
# reason: the weights of some batches come from numpy and were never made single

import numpy
import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def batches():
    for number in range(4):
        x, y = torch.randn(8, 6), torch.randint(3, (8,))
        if number == 3:
            weights = torch.from_numpy(numpy.linspace(0.5, 1.5, 8))
        else:
            weights = torch.rand(8)
        yield x, y, weights


for x, y, weights in batches():
    x, y = x.to(device), y.to(device)
    weights = weights.to(device)  # <- cause
    optimizer.zero_grad()
    losses = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    (losses * weights).mean().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
