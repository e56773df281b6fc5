# cause: shape
# subject: x
# pattern: unpadded
# advice: Pad

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device).eval()


@torch.compile(backend="tpu")
def serve(x):
    return model(x).sum()


@torch.inference_mode()
def handle(rows):
    return serve(torch.ones(rows, 16).to(device)).item()  # <- cause


for rows in (8, 3, 5, 1, 7, 2):
    print("%.5f" % handle(rows))  # <- call
