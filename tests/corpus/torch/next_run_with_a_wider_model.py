# program: SyncTensorsGraph
# cause: shape
# run: --width 16
# run: --width 24
# advice: !Pad
# reason: an option of the command line makes the hidden layer of the second run wider

import argparse

import torch
import torch_xla
from torch import nn


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=3)
    return parser.parse_args()


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.norm = nn.Linear(7, width), nn.LayerNorm(width)
        self.outer = nn.Linear(width, 2)

    def forward(self, x):
        return self.outer(torch.relu(self.norm(self.inner(x))))


def main():
    options = arguments()
    device = torch_xla.device()
    torch.manual_seed(0)
    model = Regressor(options.width).to(device)  # <- cause
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate)
    for step in range(options.steps):
        x, y = torch.randn(12, 7).to(device), torch.randn(12, 2).to(device)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        print(step, loss.item())


if __name__ == "__main__":
    main()
