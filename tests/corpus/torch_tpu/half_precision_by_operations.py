# program: tt_jit_tanh
# cause: dtype
# old: f32[8,16]
# new: bf16[8,16]

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


for step in range(10):
    x = torch.ones(8, 16, dtype=torch.bfloat16 if step == 8 else torch.float32).to(device)
    print("%.5f" % torch.tanh(x).float().sum().item())
