# cause: dtype
# subject: x
# old: f32[4,16]
# new: bf16[4,16]
# advice: Convert where the data is made

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def serve(x):
    return (x.exp() * 1.5).float().sum()


with torch.inference_mode():
    for step in range(6):
        x = torch.ones(4, 16, dtype=torch.bfloat16 if step == 4 else torch.float32)
        print("%.5f" % serve(x.to(device)).item())  # <- cause
