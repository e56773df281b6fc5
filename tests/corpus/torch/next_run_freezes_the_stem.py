# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 6 tensors
# new: updates 4 tensors
# run:
# run: --freeze-stem
# reason: an option of the command line freezes the first layer in the second run

import argparse

import torch
import torch_xla
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--freeze-stem", action="store_true")
options = parser.parse_args()
device = torch_xla.device()
torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Linear(10, width)
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(self.body(x))
        return self.head(x)


model = Model().to(device)
model.stem.requires_grad_(not options.freeze_stem)
optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
torch_xla.sync()
for step in range(3):
    x, y = torch.randn(8, 10).to(device), torch.randint(4, (8,)).to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    print(step, loss.item())
