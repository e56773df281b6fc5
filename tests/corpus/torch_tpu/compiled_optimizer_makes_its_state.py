# cause: arguments
# old: absent
# advice: before the first step

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")

model = torch.nn.Linear(16, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)


@torch.compile(backend="tpu")
def update():
    optimizer.step()


def main():
    for step in range(5):
        optimizer.zero_grad()
        model(torch.ones(8, 16).to(device)).sum().backward()
        update()  # <- cause


main()
