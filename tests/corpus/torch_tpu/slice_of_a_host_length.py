# cause: size
# old: 12
# new: 10

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
data = torch.randn(8, 16).to(device)


@torch.compile(backend="tpu")
def head_of(data, length):
    return (data[:, :length] * 1.5).sum()  # <- cause


def main():
    for step in range(6):
        print("%.5f" % head_of(data, 12 if step < 4 else 10).item())  # <- call


main()
