# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
narrow, wide = (torch.nn.Linear(16, size).to(device) for size in (4, 64))
answer_narrow = torch.compile(narrow, backend="tpu")
answer_wide = torch.compile(wide, backend="tpu")

with torch.no_grad():
    for step in range(4):
        x = torch.full((8, 16), float(step)).to(device)
        print("%.5f" % answer_narrow(x).sum().item())
        print("%.5f" % answer_wide(x).sum().item())
