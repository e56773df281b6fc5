# program: SyncTensorsGraph
# cause: structure
# subject: convert
# old: nothing

import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(8, 8).to(device)
for enabled in (False, True):
    with torch.autocast("xla", dtype=torch.bfloat16, enabled=enabled):
        y = x @ x  # <- cause
    torch_xla.sync()  # <- call
