# cause: constant
# pattern: counter
# old: 7
# new: 8
# advice: tensor of one dimension

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


def batch(step, rows=8):
    generator = torch.Generator().manual_seed(step)
    x, y = torch.randn(rows, 16, generator=generator), torch.randn(rows, 4, generator=generator)
    return x.to(device), y.to(device)


@torch.compile(backend="tpu")
def loss_of(x, y, step):
    return torch.nn.functional.mse_loss(model(x) * step, y)  # <- cause


def main():
    for step in range(3, 9):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = loss_of(x, y, step)  # <- call
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
