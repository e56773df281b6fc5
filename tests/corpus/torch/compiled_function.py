# program: step
# cause: shape
# old: f32[8,4]
# new: f32[5,4]

import torch
import torch_xla

device = torch_xla.device()


@torch_xla.compile
def step(x):
    return (x * x).sum()  # <- cause


for size in (8, 5):
    step(torch.ones(size, 4).to(device))  # <- call
