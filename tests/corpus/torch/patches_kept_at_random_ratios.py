# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

PATCHES, PATCH = 16, 12
dice = random.Random(7)


def patchify(pictures):
    rows = pictures.unfold(2, 2, 2).unfold(3, 2, 2)
    return rows.permute(0, 2, 3, 1, 4, 5).reshape(len(pictures), PATCHES, PATCH)


def choose_visible():
    hidden = int(PATCHES * dice.uniform(0.3, 0.8))
    return torch.randperm(PATCHES)[hidden:].sort().values


class MaskedAutoencoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Linear(PATCH, width)
        self.places = nn.Parameter(torch.randn(PATCHES, width) * 0.02)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.decoder = nn.Linear(width, PATCHES * PATCH)

    def forward(self, patches, visible):
        x = (self.embed(patches) + self.places).index_select(1, visible)
        return self.decoder(self.encoder(x).mean(1)).view_as(patches)


def pretrain(model, device, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        patches = patchify(torch.rand(4, 3, 8, 8)).to(device)
        visible = choose_visible().to(device)  # <- cause
        optimizer.zero_grad()
        loss = F.mse_loss(model(patches, visible), patches)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        print(len(visible), loss.item())


torch.manual_seed(0)
device = torch_xla.device()
model = MaskedAutoencoder().to(device)
torch_xla.sync()
pretrain(model, device, steps=4)
