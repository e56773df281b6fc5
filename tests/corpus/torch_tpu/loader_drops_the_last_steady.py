# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = torch.utils.data.TensorDataset(torch.randn(37, 16), torch.randn(37, 4))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True)


@torch.compile(backend="tpu")
def loss_of(x, y):
    return torch.nn.functional.mse_loss(model(x), y)


def main():
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_of(x.to(device), y.to(device))
            loss.backward()
            optimizer.step()
            print("loss %.5f" % loss.item())


main()
