# cause: constant
# pattern: counter
# advice: tensor of one dimension

import torch
import torch_tpu
from diffusers.models.embeddings import get_timestep_embedding

torch.manual_seed(0)
device = torch.device("tpu")


@torch.compile(backend="tpu")
def embedded(sample, step):
    steps = torch.full((4,), step, device=sample.device)  # <- cause
    return sample * get_timestep_embedding(steps, 16).sum(-1, keepdim=True)


with torch.no_grad():
    sample = torch.ones(4, 16).to(device)
    for step in range(5, 11):
        print("%.5f" % embedded(sample, step).sum().item())  # <- call
