# cause: constant
# old: 0.1
# new: 0.05
# advice: tensor of one dimension

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
weight = torch.randn(16, 4).to(device)


@torch.compile(backend="tpu")
def updated(weight, gradient, rate):
    return weight - gradient * rate  # <- cause


def main():
    global weight
    for step in range(8):
        weight = updated(weight, torch.full((16, 4), 0.5).to(device), 0.1 if step < 5 else 0.05)  # <- call
        print("%.5f" % weight.sum().item())


main()
