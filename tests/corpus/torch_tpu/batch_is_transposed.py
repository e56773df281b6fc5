# cause: layout
# subject: x
# advice: contiguous

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
def loss_of(x, y):
    return torch.nn.functional.mse_loss(model(x), y)


def main():
    for step in range(8):
        x, y = batch(step, 16)
        if step == 6:
            x = x.t()
        optimizer.zero_grad()
        loss = loss_of(x, y)  # <- cause
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
