# program: SyncTensorsGraph
# cause: none
# reason: one dimension is enough for the index to stay on the device

import torch
import torch_xla

device = torch_xla.device()
x = torch.randn(32, 4).to(device)
i = torch.tensor([3]).to(device)
torch_xla.sync()
for step in range(4):
    y = (x.index_select(0, i) * 2).sum()
    i += 1
    torch_xla.sync()
