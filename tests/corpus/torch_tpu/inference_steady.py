# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device).eval()
answer = torch.compile(model, backend="tpu")

with torch.no_grad():
    for step in range(6):
        x = torch.full((8, 16), float(step)).to(device)
        print("%.5f" % answer(x).sum().item())
