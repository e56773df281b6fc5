# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
weight = torch.randn(16, 4).to(device)
rate = torch.full((1,), 0.1).to(device)


@torch.compile(backend="tpu")
def updated(weight, gradient, rate):
    return weight - gradient * rate


def main():
    global weight
    for step in range(8):
        if step == 5:
            rate.copy_(torch.full((1,), 0.05))
        weight = updated(weight, torch.full((16, 4), 0.5).to(device), rate)
        print("%.5f" % weight.sum().item())


main()
