# cause: structure

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 4)).to(device)


@torch.compile(backend="tpu")
def answer(x):
    return model(x).sum()  # <- cause


def main():
    for step in range(8):
        model.train(step < 5)
        print("%.5f" % answer(torch.ones(8, 16).to(device)).item())  # <- call


main()
