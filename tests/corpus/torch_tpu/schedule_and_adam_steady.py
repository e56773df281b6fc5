# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)


@torch.compile(backend="tpu")
def loss_of(x):
    return model(x).square().mean()


def main():
    for step in range(6):
        optimizer.zero_grad()
        loss = loss_of(torch.ones(8, 16).to(device))
        loss.backward()
        optimizer.step()
        schedule.step()
        print("loss %.5f" % loss.item())


main()
