# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: SGD adds the decayed weights only if the decay is not 0

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


def parameter_groups(model):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": decayed, "decays": True}, {"params": rest, "decays": False}]


def set_decay(optimizer, decay):
    for group in optimizer.param_groups:
        if group["decays"]:
            group["weight_decay"] = decay


model = nn.Sequential(nn.Linear(10, 20), nn.LayerNorm(20), nn.GELU(), nn.Linear(20, 2)).to(device)
optimizer = torch.optim.SGD(parameter_groups(model), lr=0.05)
warm_up = 3
torch_xla.sync()
for step in range(5):
    if step == warm_up:
        set_decay(optimizer, 0.01)
    x, y = torch.randn(12, 10).to(device), torch.randint(2, (12,)).to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    print(step, loss.item())
