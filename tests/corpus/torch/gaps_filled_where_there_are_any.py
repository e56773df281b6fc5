# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: bool[6,12]
# advice: same keys
# reason: only a window of sensor data that has gaps comes with a mask of them

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Forecaster(nn.Module):
    def __init__(self, past, future, width=10):
        super().__init__()
        self.inner = nn.Linear(past, width)
        self.outer = nn.Linear(width, future)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))


def windows():
    for number in range(4):
        series = torch.randn(6, 16).cumsum(1)
        past, future = series[:, :12], series[:, 12:]
        if number == 2:
            past = past.masked_fill(torch.rand(6, 12) < 0.2, float("nan"))
        yield past, future


def moved(past):
    gaps = past.isnan()
    values = past.nan_to_num().to(device)
    if gaps.any():
        values = torch.where(gaps.to(device), values.mean(), values)  # <- cause
    return values


model = Forecaster(12, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()
for past, future in windows():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(moved(past)), future.to(device))
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    torch_xla.sync()  # <- call
    print(loss.item())
