# cause: constant
# old: 0.7
# new: 0.9
# advice: tensor of one dimension

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
logits = torch.randn(4, 50).to(device)


@torch.compile(backend="tpu")
def chances(logits, temperature):
    return torch.softmax(logits * temperature, -1).amax()  # <- cause


with torch.no_grad():
    for step in range(6):
        print("%.5f" % chances(logits, 0.9 if step == 4 else 0.7).item())  # <- call
