# cause: structure
# subject: tanh
# old: nothing

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def batch(step, rows=8):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(rows, 16, generator=generator), torch.randn(rows, 4, generator=generator)


@torch.compile(backend="tpu")
def loss_of(x, y, deep):
    out = model(x)
    if deep:
        out = out.tanh()  # <- cause
    return torch.nn.functional.mse_loss(out, y)


def main():
    for step in range(8):
        x, y = batch(step)
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_of(x, y, step >= 4)  # <- call
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
