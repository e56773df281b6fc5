# cause: size
# old: 5
# new: 3

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
scores = torch.randn(8, 16).to(device)


@torch.compile(backend="tpu")
def best(scores, k):
    return torch.topk(scores * 2.5, k).values.sum()  # <- cause


def main():
    for step in range(6):
        print("%.5f" % best(scores, 5 if step < 4 else 3).item())  # <- call


main()
