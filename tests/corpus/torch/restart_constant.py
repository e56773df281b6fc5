# program: SyncTensorsGraph
# cause: constant
# subject: power
# old: 2
# new: 3
# run: EXPONENT=2
# run: EXPONENT=3

import os

import torch
import torch_xla

device = torch_xla.device()
x = torch.full((8, 4), 1.5).to(device)
exponent = int(os.environ["EXPONENT"])
y = ((x + 1) ** exponent).sum()  # <- cause
torch_xla.sync()  # <- call
