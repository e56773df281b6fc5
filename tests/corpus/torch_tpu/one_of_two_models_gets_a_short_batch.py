# cause: shape
# subject: input
# old: f32[8,16]
# new: f32[5,16]

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
narrow, wide = (torch.nn.Linear(16, size).to(device) for size in (4, 64))
answer_narrow, answer_wide = (torch.compile(model, backend="tpu") for model in (narrow, wide))

with torch.no_grad():
    for step in range(5):
        x = torch.ones(8, 16).to(device)
        print("%.5f" % answer_narrow(x).sum().item())
        print("%.5f" % answer_wide(x[:5] if step == 4 else x).sum().item())  # <- cause
