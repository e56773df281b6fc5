# cause: arguments
# new: absent

import peft
import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
base = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))
model = peft.get_peft_model(base, peft.LoraConfig(target_modules=["0"], r=2)).to(device).eval()

compiled = torch.compile(model, backend="tpu")


def answer():
    return compiled(torch.ones(8, 16).to(device)).sum().item()  # <- cause


with torch.no_grad():
    for step in range(5):
        print("%.5f" % answer())
    with model.disable_adapter():
        print("%.5f" % answer())  # <- call
