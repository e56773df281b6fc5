# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")

student, teacher = (torch.nn.Sequential(torch.nn.Linear(16, size), torch.nn.Linear(size, 4)).to(device)
                    for size in (8, 32))
taught, teaching = (torch.compile(model, backend="tpu") for model in (student, teacher))
optimizer = torch.optim.SGD(student.parameters(), lr=1e-2)


def main():
    for step in range(6):
        x = torch.full((8, 16), 0.1 * step).to(device)
        with torch.no_grad():
            aim = teaching(x)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(taught(x), aim)
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())


main()
