# cause: constant
# old: 0.25
# new: 0.5
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
def loss_of(x, y, share):
    return torch.nn.functional.mse_loss(model(x), y) * share  # <- cause


def main():
    for size in (4, 4, 4, 2):
        optimizer.zero_grad()
        for step in range(size):
            x, y = batch(step)
            loss = loss_of(x, y, 1 / size)  # <- call
            loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
