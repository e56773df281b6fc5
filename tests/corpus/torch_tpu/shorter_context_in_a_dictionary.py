# cause: shape
# subject: request['tokens']
# old: i64[2,16]
# new: i64[2,12]
# advice: Pad

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Embedding(50, 16).to(device)


@torch.compile(backend="tpu")
def serve(request):
    return (model(request["tokens"]) * request["weight"]).sum()


with torch.no_grad():
    for step in range(6):
        length = 12 if step == 4 else 16
        request = {"tokens": torch.zeros(2, length, dtype=torch.int64).to(device), "weight": torch.ones(1).to(device)}
        print("%.5f" % serve(request).item())  # <- cause
