# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[8]
# run: WEIGHTED=0
# run: WEIGHTED=1

import os

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8).to(device)
weight = torch.ones(8).to(device)  # <- cause
y = x * x
if os.environ["WEIGHTED"] == "1":
    y = y * weight
z = y.sum()
torch_xla.sync()  # <- call
