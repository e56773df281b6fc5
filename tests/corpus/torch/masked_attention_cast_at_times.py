# cause: dtype
# subject: convert
# old: f32[]
# new: bf16[]
# advice: autocast
# program: SyncTensorsGraph

# Only the last step runs under autocast. No argument changed its dtype.
import contextlib

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()
qkv, out = torch.nn.Linear(16, 48).to(device), torch.nn.Linear(16, 16).to(device)
torch_xla.sync()
for is_cast in (False, False, True):
    x = torch.randn(4, 12, 16).to(device)
    behind = torch.ones(12, 12, device=device).tril() > 0
    with torch.autocast("xla", dtype=torch.bfloat16) if is_cast else contextlib.nullcontext():
        q, k, v = qkv(x).split(16, dim=2)
        scores = q @ k.transpose(1, 2)
        scores = scores.masked_fill(behind.logical_not(), -1e30)  # <- cause
        y = out(scores.softmax(-1) @ v)
    torch_xla.sync()  # <- call
