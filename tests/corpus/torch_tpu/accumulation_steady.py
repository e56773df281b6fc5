# cause: stable

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
    return torch.nn.functional.mse_loss(model(x), y) * 0.25


def main():
    for step in range(12):
        loss = loss_of(*batch(step))
        loss.backward()
        if step % 4 == 3:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print("loss %.5f" % loss.item())


main()
