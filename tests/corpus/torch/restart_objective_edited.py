# program: SyncTensorsGraph
# cause: edit
# old: return F.mse_loss(output, target)
# new: return F.smooth_l1_loss(output, target, beta=0.5)
# run: "F.mse_loss(output, target)"
# run: "F.smooth_l1_loss(output, target, beta=0.5)"
# reason: the file of the loss is edited between the two runs

import pathlib
import sys

import torch
import torch_xla
from torch import nn

FILE = pathlib.Path("objective_edited.py")
FILE.write_text(f"""import torch.nn.functional as F


def objective(output, target):
    return {sys.argv[1]}
""")
sys.path.insert(0, str(FILE.resolve().parent))
import objective_edited  # noqa: E402

device = torch_xla.device()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(3):
    x, y = torch.randn(8, 6).to(device), torch.randn(8, 2).to(device)
    optimizer.zero_grad()
    loss = objective_edited.objective(model(x), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(step, loss.item())
