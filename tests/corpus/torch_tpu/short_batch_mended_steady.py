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
def loss_of(x, y, mask):
    return (torch.nn.functional.mse_loss(model(x), y, reduction="none").mean(1) * mask).sum() / mask.sum()


def main():
    for step in range(8):
        rows = 5 if step == 5 else 8
        x, y = batch(step, rows)
        x, y = (torch.nn.functional.pad(part.cpu(), (0, 0, 0, 8 - rows)).to(device) for part in (x, y))
        mask = (torch.arange(8) < rows).float().to(device)
        optimizer.zero_grad()
        loss = loss_of(x, y, mask)
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
