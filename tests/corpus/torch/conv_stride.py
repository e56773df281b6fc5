# program: SyncTensorsGraph
# cause: size
# subject: convolution stride
# old: 1
# new: 2

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(1, 2, 8, 8).to(device)
weight = torch.ones(3, 2, 3, 3).to(device)
for stride in (1, 2):
    y = torch.nn.functional.conv2d(x, weight, stride=stride, padding=1)  # <- cause
    torch_xla.sync()  # <- call
