# program: SyncTensorsGraph
# cause: arguments
# old: f32[]
# new: absent
# reason: the rate falls to the number of the penalty, and equal numbers are one argument

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
weights = torch.randn(6, 1).to(device).requires_grad_()
torch_xla.sync()
rate, penalty = 0.1, 0.025
for epoch in range(4):
    x, y = torch.randn(8, 6).to(device), torch.randn(8, 1).to(device)
    loss = (x @ weights - y).square().mean() + penalty * weights.square().sum()
    (gradient,) = torch.autograd.grad(loss, weights)
    with torch.no_grad():
        weights -= rate * gradient  # <- cause
    torch_xla.sync()  # <- call
    rate /= 2
