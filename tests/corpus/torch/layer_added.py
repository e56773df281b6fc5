# program: SyncTensorsGraph
# cause: structure
# old: 2 times
# new: 3 times

import torch
import torch_xla

device = torch_xla.device()
layers = [torch.nn.Linear(4, 4).to(device) for _ in range(3)]
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for depth in (2, 3):
    y = x
    for layer in layers[:depth]:
        y = torch.tanh(layer(y))  # <- cause
    torch_xla.sync()  # <- call
