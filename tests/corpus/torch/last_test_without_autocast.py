# program: SyncTensorsGraph
# cause: structure
# subject: convert
# new: nothing
# reason: the epochs are checked in bfloat16, the end of the training in full

import contextlib

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 4).to(device).eval()
inputs = torch.randn(12, 8).split(6)
torch_xla.sync()


@torch.no_grad()
def evaluate(mixed=True):
    best = []
    for x in inputs:
        x = x.to(device)
        context = torch.autocast("xla", dtype=torch.bfloat16) if mixed else contextlib.nullcontext()
        with context:
            scores = model(x)  # <- cause
        top = scores.amax(1)
        torch_xla.sync()  # <- call
        best.append(top.cpu().float())
    return torch.cat(best).mean().item()


print(evaluate())
print(evaluate(mixed=False))
