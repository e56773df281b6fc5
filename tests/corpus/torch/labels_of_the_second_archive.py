# program: SyncTensorsGraph
# cause: dtype
# old: i64[5]
# new: i32[5]
# advice: loader | where the data is made | convert
# reason: one archive has its labels as 64-bit integers, the other one as 32-bit ones

import numpy as np
import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
random = np.random.default_rng(0)
archives = [
    {"x": random.normal(size=(10, 4)).astype(np.float32), "y": random.integers(3, size=10)},
    {"x": random.normal(size=(10, 4)).astype(np.float32), "y": random.integers(3, size=10, dtype=np.int32)},
]
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for archive in archives:
    for rows in np.split(np.arange(10), 2):
        x = torch.from_numpy(archive["x"][rows]).to(device)
        y = torch.from_numpy(archive["y"][rows]).to(device)  # <- cause
        loss = torch.nn.functional.cross_entropy(model(x), y.long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
