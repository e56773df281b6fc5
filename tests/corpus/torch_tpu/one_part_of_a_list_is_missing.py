# cause: arguments
# subject: parts[2]
# old: f32[8,4]
# new: absent

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def total(parts):
    out = 0.5
    for part in parts:
        out = out + part.exp().sum()
    return out


def main():
    for step in range(8):
        parts = [torch.ones(8, 4).to(device) for _ in range(2 if step == 6 else 3)]
        print("%.5f" % total(parts).item())  # <- cause


main()
