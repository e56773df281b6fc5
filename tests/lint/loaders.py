import torch
import torch_xla
import torch_xla.distributed.parallel_loader as pl
from torch.utils.data import DataLoader


def train(data, model, device):
    loader = DataLoader(data, batch_size=8, shuffle=True)  # expect: partial-batch
    test = DataLoader(data, batch_size=8)
    full = DataLoader(data, batch_size=8, shuffle=True, drop_last=True)
    inner = DataLoader(data, 8)  # expect: partial-batch
    single = DataLoader(data, batch_size=1)
    device_loader = pl.MpDeviceLoader(inner, device)
    for x in loader:
        model(x).backward()
    for x in full:
        model(x).backward()
    for x in single:
        model(x).backward()
    for x in device_loader:
        model(x).backward()
    for x in test:
        model(x)
