# program: SyncTensorsGraph
# cause: flag
# subject: xla_cpu_enable_fast_math
# old: false
# new: true
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=false
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=true

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 4).to(device)
y = (x * x).sum()
torch_xla.sync()  # <- cause
