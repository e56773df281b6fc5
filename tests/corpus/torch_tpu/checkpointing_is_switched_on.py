# cause: structure
# advice: checkpointing

import torch
import torch.utils.checkpoint
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
def loss_of(x, y, saves):
    if saves:
        out = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    else:
        out = model(x)
    return torch.nn.functional.mse_loss(out, y)


def main():
    for step in range(8):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = loss_of(x, y, step > 4)  # <- cause
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
