# cause: dtype
# subject: 0.weight
# old: f32[50,16]
# new: bf16[50,16]
# advice: model.to(dtype)

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Embedding(50, 16), torch.nn.Flatten()).to(device)
compiled = torch.compile(model, backend="tpu")
ids = torch.arange(8).reshape(2, 4).to(device)


def serve():
    return compiled(ids).float().sum().item()  # <- cause


with torch.no_grad():
    for step in range(6):
        if step == 4:
            model.load_state_dict({"0.weight": torch.ones(50, 16, dtype=torch.bfloat16).to(device)}, assign=True)
        print("%.5f" % serve())  # <- call
