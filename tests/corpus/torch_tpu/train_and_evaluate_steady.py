# cause: stable

import torch
import torch_tpu

torch.manual_seed(0)
device = torch.device("tpu")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(16, 16) for _ in range(2)])
        self.head = torch.nn.Linear(16, 4)
        self.gain = 0.7
        self.deep = False

    def forward(self, x, bias=None):
        for layer in self.layers:
            x = layer(x).relu()
        if self.deep:
            x = torch.sin(x)
        x = self.head(x) * self.gain
        return x if bias is None else x + bias


model = Net().to(device)
compiled = torch.compile(model, backend="tpu")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


def batch(step, rows=8):
    generator = torch.Generator().manual_seed(step)
    x, y = torch.randn(rows, 16, generator=generator), torch.randn(rows, 4, generator=generator)
    return x.to(device), y.to(device)


def train(x, y, **more):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(compiled(x, **more), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(x, y):
    return torch.nn.functional.mse_loss(compiled(x), y).item()


for epoch in range(3):
    for step in range(3):
        print("loss %.5f" % train(*batch(step)))
    print("validation %.5f" % evaluate(*batch(9)))
