# program: SyncTensorsGraph
# cause: structure
# new: nothing

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
dropout = torch.nn.Dropout(0.5)
x = torch.ones(8, 4).to(device)
torch_xla.sync()
for train in (True, False):
    dropout.train(train)
    y = model(x)
    z = dropout(y)  # <- cause
    torch_xla.sync()  # <- call
