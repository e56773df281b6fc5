# program: SyncTensorsGraph
# cause: dtype
# old: f32[8,6]

import numpy as np
import torch
import torch_xla
from torch import nn

device = torch_xla.device()
rng = np.random.default_rng(0)


def records_of_north():
    for _ in range(3):
        yield {"vitals": rng.normal(size=(8, 6)).astype(np.float32),
               "observed": (rng.random((8, 6)) > 0.2).astype(np.float32)}


def records_of_south():
    for _ in range(2):
        yield {"vitals": rng.normal(size=(8, 6)).astype(np.float32),
               "observed": rng.random((8, 6)) > 0.4}


class Imputer(nn.Module):
    def __init__(self, vitals=6, hidden=16):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(vitals, hidden), nn.GELU(), nn.Linear(hidden, vitals))

    def forward(self, vitals, observed):
        return self.inner(vitals * observed)


def masked_error(guess, vitals, observed):
    return ((guess - vitals).pow(2) * observed).sum() / observed.sum()


def fit(model, sites, optimizer):
    for site in sites:
        for record in site():
            vitals = torch.from_numpy(record["vitals"]).to(device)
            observed = torch.from_numpy(record["observed"]).to(device)  # <- cause
            optimizer.zero_grad()
            loss = masked_error(model(vitals, observed), vitals, observed)
            loss.backward()
            optimizer.step()
            torch_xla.sync()  # <- call
        print(site.__name__, loss.item())


model = Imputer().to(device)
torch_xla.sync()
fit(model, [records_of_north, records_of_south], torch.optim.SGD(model.parameters(), lr=0.1))
