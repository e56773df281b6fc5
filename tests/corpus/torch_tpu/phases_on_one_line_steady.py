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
    return torch.nn.functional.mse_loss(model(x), y)


def main():
    for epoch in range(3):
        for phase in ("train", "val"):
            x, y = batch(epoch)
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                loss = loss_of(x, y)
            if phase == "train":
                loss.backward()
                optimizer.step()
            print("%s %.5f" % (phase, loss.item()))


main()
