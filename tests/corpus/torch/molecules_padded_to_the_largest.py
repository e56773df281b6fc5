# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# advice: one size

import random

import torch
import torch_xla
from torch import nn
from torch.nn.utils.rnn import pad_sequence

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(3)


class EnergyModel(nn.Module):
    """A sum over atoms of what a small network says of each atom's distances to the others."""

    def __init__(self, width=16):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(1, width), nn.SiLU())
        self.atom = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, positions, sizes):
        apart = (positions[:, :, None] - positions[:, None]).pow(2).sum(-1, keepdim=True)
        real = torch.arange(positions.shape[1], device=positions.device) < sizes[:, None]
        messages = (self.pair(apart) * real[:, None, :, None]).sum(2)
        return (self.atom(messages).squeeze(-1) * real).sum(1)


def collate(molecules):
    positions = pad_sequence([positions for positions, _ in molecules], batch_first=True)
    sizes = torch.tensor([len(positions) for positions, _ in molecules])
    return positions, sizes, torch.tensor([energy for _, energy in molecules])


def batches():
    for largest in (7, 11, 9, 12):
        atoms = [dice.randint(3, largest - 1) for _ in range(3)] + [largest]
        yield collate([(torch.randn(n, 3), -1.5 * n) for n in atoms])


def move(batch):
    positions, sizes, energies = batch
    positions = positions.to(device)  # <- cause
    return positions, sizes.to(device), energies.to(device)


model = EnergyModel().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
torch_xla.sync()
for batch in batches():
    positions, sizes, energies = move(batch)
    loss = (model(positions, sizes) - energies).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(loss.item())
