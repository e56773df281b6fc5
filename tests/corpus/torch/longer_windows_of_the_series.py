# program: SyncTensorsGraph
# cause: shape
# old: f32[9,4]
# new: f32[8,6]
# reason: a series is cut into windows by Tensor.unfold, which the host does; they are longer in the last test

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
head = nn.Linear(2, 1).to(device)
torch_xla.sync()


@torch.no_grad()
def anomaly(series, length):
    windows = series.unfold(0, length, 2)  # <- cause
    score = head(torch.stack([windows.mean(1), windows.std(1)], 1)).abs().max()
    torch_xla.sync()  # <- call
    return score.item()


for length in (4, 4, 6):
    print(length, anomaly(torch.randn(20).to(device), length))
