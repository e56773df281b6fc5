# program: SyncTensorsGraph
# cause: constant
# subject: slice start
# old: 3
# new: 2
# advice: tensor | index_select
# reason: a table on the device is indexed by the loop's number

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
steps = 6
betas = torch.linspace(1e-3, 0.2, steps).to(device)
denoiser = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.GELU(), torch.nn.Linear(16, 3))
denoiser.to(device).eval()
torch_xla.sync()


@torch.no_grad()
def sample(count):
    x = torch.randn(count, 3).to(device)
    for t in range(steps - 1, 1, -1):
        x = x - betas[t] * denoiser(x)  # <- cause
        torch_xla.sync()  # <- call
    return x.cpu()


print(sample(4).mean().item())
