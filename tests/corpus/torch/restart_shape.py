# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[16,4]
# run: BATCH=8
# run: BATCH=16

import os

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(int(os.environ["BATCH"]), 4).to(device)  # <- cause
y = (x * x).sum()
torch_xla.sync()  # <- call
