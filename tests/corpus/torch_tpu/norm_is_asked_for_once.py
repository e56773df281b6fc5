# cause: structure
# old: nothing

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def serve(x, normed):
    x = x * 1.5
    if normed:
        x = x * torch.rsqrt((x * x).mean(-1, keepdim=True))  # <- cause
    return x.sum()


with torch.inference_mode():
    for step in range(6):
        print("%.5f" % serve(torch.ones(4, 16).to(device), step == 4).item())  # <- call
