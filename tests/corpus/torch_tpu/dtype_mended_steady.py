# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


@torch.compile(backend="tpu")
def loss_of(x, y):
    return torch.nn.functional.mse_loss(model(x), y)


def main():
    for step in range(8):
        x, y = torch.ones(8, 16, dtype=torch.bfloat16 if step >= 4 else torch.float32), torch.ones(8, 4)
        x, y = x.to(torch.float32).to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
