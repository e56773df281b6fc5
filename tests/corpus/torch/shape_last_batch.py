# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[5,4]

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 2).to(device)
data = torch.ones(21, 4)
for batch in data.split(8):
    x = batch.to(device)  # <- cause
    y = model(x)
    torch_xla.sync()  # <- call
