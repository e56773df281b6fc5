# program: SyncTensorsGraph
# cause: dtype
# old: f32[8,4]
# new: bf16[8,4]

import torch
import torch_xla

device = torch_xla.device()
for dtype in (torch.float32, torch.bfloat16):
    x = torch.ones(8, 4, dtype=dtype).to(device)  # <- cause
    y = (x * x).sum()
    torch_xla.sync()  # <- call
