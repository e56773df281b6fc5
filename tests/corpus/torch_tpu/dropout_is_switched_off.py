# cause: arguments
# old: u64[2]
# new: absent

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.5), torch.nn.Linear(32, 4)).to(device)


@torch.compile(backend="tpu")
def answer(x):
    return model(x).sum()


def main():
    for step in range(8):
        model.train(step < 5)
        x = torch.ones(8, 16).to(device)
        print("%.5f" % answer(x).item())  # <- cause


main()
