# cause: dtype
# subject: ids
# old: i64[4,8]
# new: i32[4,8]
# advice: Convert where the data is made

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Embedding(50, 16), torch.nn.Linear(16, 50)).to(device)


@torch.compile(backend="tpu")
def answer(ids):
    return model(ids).sum()


def main():
    for step in range(6):
        ids = torch.arange(32).reshape(4, 8)
        if step == 4:
            ids = ids.int()
        print("%.5f" % answer(ids.to(device)).item())  # <- cause


main()
