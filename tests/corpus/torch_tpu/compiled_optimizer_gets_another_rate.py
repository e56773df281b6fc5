# cause: constant
# old: -0.01
# new: -0.005
# advice: tensor of one dimension

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")

model = torch.nn.Linear(16, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


@torch.compile(backend="tpu")
def update():
    optimizer.step()


def main():
    for step in range(5):
        optimizer.zero_grad()
        model(torch.ones(8, 16).to(device)).sum().backward()
        if step == 3:
            optimizer.param_groups[0]["lr"] = 5e-3
        update()  # <- call


main()
