# cause: shape
# subject: x
# old: f32[8,16]
# new: f32[5,16]
# advice: drop_last

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def serve(x):
    return (x.exp() * 1.5).sum()


def first():
    return serve(torch.ones(8, 16).to(device)).item()


def second():
    return serve(torch.ones(5, 16).to(device)).item()  # <- cause


for step in range(3):
    print("%.5f" % first())
print("%.5f" % second())  # <- call
