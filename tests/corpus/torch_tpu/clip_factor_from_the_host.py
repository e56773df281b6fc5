# cause: constant
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
def clipped(gradient, factor):
    return gradient * factor  # <- cause


def main():
    for step in range(6):
        x, y = batch(step)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        gradient = model[0].weight.grad
        factor = min(1.0, 0.01 / gradient.norm().item())
        model[0].weight.grad = clipped(gradient, factor)  # <- call
        optimizer.step()


main()
