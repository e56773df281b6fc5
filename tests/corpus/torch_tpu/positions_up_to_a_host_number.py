# cause: size
# old: 12
# new: 10

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def positions(scale, length):
    return (torch.arange(length, device=scale.device) * scale).sum()  # <- cause


def main():
    scale = torch.full((1,), 0.5).to(device)
    for step in range(6):
        print("%.5f" % positions(scale, 12 if step < 4 else 10).item())  # <- call


main()
