# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[8]

import torch
import torch_xla

device = torch_xla.device()


def step(batch):
    y = batch["x"] * 2.5
    if "weight" in batch:
        y = y * batch["weight"]  # <- cause
    return y.sum()


x = torch.ones(8).to(device)
weight = torch.ones(8).to(device)
for batch in ({"x": x}, {"x": x, "weight": weight}):
    loss = step(batch)
    torch_xla.sync()  # <- call
