# cause: stable

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


def on_host(value):
    if torch.is_tensor(value):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        return {key: on_host(inner) for key, inner in value.items()}
    return value


class Guard:
    """Keeps a copy of model and optimizer on the host and goes back to it if the loss jumps."""

    def __init__(self, model, optimizer, factor):
        self.model, self.optimizer, self.factor = model, optimizer, factor
        self.best, self.kept = float("inf"), None

    def keep(self):
        self.kept = on_host(self.model.state_dict()), on_host(self.optimizer.state_dict())

    def check(self, loss):
        if self.kept and loss > self.factor * self.best:
            self.model.load_state_dict(self.kept[0])
            self.optimizer.load_state_dict(self.kept[1])
            return True
        if loss < self.best:
            self.best = loss
            self.keep()
        return False


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.03)
    guard = Guard(model, optimizer, factor=4)
    torch_xla.sync()
    for step in range(8):
        scale = 30 if step == 4 else 1
        x, y = scale * torch.randn(8, 6), torch.randn(8, 2)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        print(step, loss.item(), guard.check(loss.item()))


main()
