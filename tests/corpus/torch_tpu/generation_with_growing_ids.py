# cause: shape
# subject: ids
# old: i64[1,8]
# new: i64[1,9]
# advice: Allocate the full length | Pad

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Embedding(50, 16), torch.nn.Linear(16, 50)).to(device).eval()


@torch.compile(backend="tpu")
def next_of(ids):
    return model(ids)[:, -1].argmax(-1, keepdim=True)


@torch.no_grad()
def generate(ids, count):
    for _ in range(count):
        ids = torch.cat([ids, next_of(ids)], 1)  # <- cause
    return ids


print(generate(torch.zeros(1, 4, dtype=torch.int64).to(device), 6).shape)  # <- call
