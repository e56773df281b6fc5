# cause: structure
# advice: Choose on the device

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
average = torch.zeros(32, 16).to(device)


@torch.compile(backend="tpu")
def averaged(average, weight, is_due):
    out = average * 0.5
    if is_due:
        out = out + torch.sin(weight)  # <- cause
    return out


def main():
    global average
    with torch.no_grad():
        for step in range(6):
            average = averaged(average, model[0].weight, step % 3 == 2)  # <- call
            print("%.5f" % average.sum().item())


main()
