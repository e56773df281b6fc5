# program: SyncTensorsGraph
# cause: sharding
# old: devices=[4,1]0,1,2,3
# new: unset

import numpy as np
import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch import nn

xr.use_spmd()
device = torch_xla.device()
mesh = xs.Mesh(np.arange(4), (4,), ("data",))
torch.manual_seed(0)


class Cache:
    """Decodes pictures in the first epoch and keeps them on the host for the others."""

    def __init__(self, count):
        self.count, self.kept = count, []

    def epoch(self):
        if self.kept:
            yield from map(self.again, self.kept)
            return
        for _ in range(self.count):
            yield self.decode()

    def decode(self):
        pictures = torch.rand(8, 20)
        self.kept.append(pictures)
        pictures = pictures.to(device)
        xs.mark_sharding(pictures, mesh, ("data", None))
        return pictures

    def again(self, pictures):
        return pictures.to(device)  # <- cause


def replicate(model):
    for parameter in model.parameters():
        xs.mark_sharding(parameter, mesh, (None,) * parameter.dim())
    torch_xla.sync()


def train(model, cache, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for pictures in cache.epoch():
            optimizer.zero_grad()
            loss = F.mse_loss(model(pictures), pictures)
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        print(epoch, loss.item())


model = nn.Sequential(nn.Linear(20, 8), nn.Sigmoid(), nn.Linear(8, 20)).to(device)
replicate(model)
train(model, Cache(3), epochs=2)
