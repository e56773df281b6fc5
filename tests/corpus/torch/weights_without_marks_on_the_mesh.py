# program: SyncTensorsGraph
# cause: sharding
# old: unset
# new: replicated
# advice: mark_sharding
# reason: only the batches are marked; the weights have a sharding from the first step on

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
device = torch_xla.device()
torch.manual_seed(0)


def make_mesh():
    count = xr.global_runtime_device_count()
    return xs.Mesh(np.arange(count), (count,), ("data",))


class Loader:
    def __init__(self, mesh, batches):
        self.mesh = mesh
        self.batches = batches

    def __iter__(self):
        for _ in range(self.batches):
            x = torch.randn(16, 8)
            y = x.mean(dim=1, keepdim=True)
            yield self.place(x), self.place(y)

    def place(self, host):
        tensor = host.to(device)
        xs.mark_sharding(tensor, self.mesh, ("data", None))
        return tensor


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    return loss.item()


model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
model = model.to(device)
torch_xla.sync()
print(train(model, Loader(make_mesh(), 4)))
