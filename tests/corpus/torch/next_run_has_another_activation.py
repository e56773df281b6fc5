# program: SyncTensorsGraph
# cause: edit
# old: x = F.relu(self.inner(x))
# new: x = F.silu(self.inner(x))
# run: relu
# run: silu
# reason: the file of the model is edited between the two runs

import importlib
import pathlib
import sys

import torch
import torch_xla

FILE = pathlib.Path("edited_network.py")
FILE.write_text(f"""import torch.nn.functional as F
from torch import nn


class Network(nn.Module):
    def __init__(self, inputs, width, outputs):
        super().__init__()
        self.inner = nn.Linear(inputs, width)
        self.norm = nn.LayerNorm(width)
        self.outer = nn.Linear(width, outputs)

    def forward(self, x):
        x = F.{sys.argv[1]}(self.inner(x))
        return self.outer(self.norm(x))
""")
sys.path.insert(0, str(FILE.resolve().parent))
Network = importlib.import_module("edited_network").Network

device = torch_xla.device()
torch.manual_seed(0)
model = Network(6, 12, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(3):
    x, y = torch.randn(8, 6).to(device), torch.randint(3, (8,)).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(step, loss.item())
