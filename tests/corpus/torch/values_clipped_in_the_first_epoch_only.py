# program: SyncTensorsGraph
# cause: structure
# new: nothing

import dataclasses

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


@dataclasses.dataclass
class Settings:
    epochs: int = 2
    batches: int = 3
    clip: float = 0.25
    clip_epochs: int = 1
    rate: float = 0.05


class Recurrent(nn.Module):
    def __init__(self, inputs=3, width=8):
        super().__init__()
        self.cell = nn.GRUCell(inputs, width)
        self.out = nn.Linear(width, inputs)

    def forward(self, series):
        state = torch.zeros(series.shape[0], 8, device=series.device)
        outputs = []
        for moment in series.unbind(1):
            state = self.cell(moment, state)
            outputs.append(self.out(state))
        return torch.stack(outputs, 1)


def update(model, optimizer, loss, clip):
    optimizer.zero_grad()
    loss.backward()
    if clip:
        nn.utils.clip_grad_value_(model.parameters(), clip)  # <- cause
    optimizer.step()


def train(settings, device):
    model = Recurrent().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=settings.rate)
    torch_xla.sync()
    for epoch in range(settings.epochs):
        clip = settings.clip if epoch < settings.clip_epochs else None
        for _ in range(settings.batches):
            series = torch.randn(4, 6, 3).to(device)
            loss = F.mse_loss(model(series)[:, :-1], series[:, 1:])
            update(model, optimizer, loss, clip)
            torch_xla.sync()  # <- call
        print(epoch, loss.item())


torch.manual_seed(0)
train(Settings(), torch_xla.device())
