# program: SyncTensorsGraph
# cause: precision
# subject: dot
# old: DEFAULT
# new: HIGHEST
# run: PRECISION=default
# run: PRECISION=highest
# reason: within a process PyTorch/XLA takes both for one graph

import os

import torch
import torch_xla
import torch_xla.backends

device = torch_xla.device()
x = torch.ones(8, 8).to(device)
torch_xla.backends.set_mat_mul_precision(os.environ["PRECISION"])
y = x @ x  # <- cause
torch_xla.sync()  # <- call
