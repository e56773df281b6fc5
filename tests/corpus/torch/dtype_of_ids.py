# program: SyncTensorsGraph
# cause: dtype
# old: i32[6]
# new: i64[6]

import torch
import torch_xla

device = torch_xla.device()
table = torch.nn.Embedding(10, 4).to(device)
for dtype in (torch.int32, torch.int64):
    ids = torch.arange(6, dtype=dtype).to(device)  # <- cause
    y = table(ids).sum()
    torch_xla.sync()  # <- call
