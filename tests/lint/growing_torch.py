import torch
import torch_xla


def generate(model, ids):
    while ids.shape[1] < 10:
        new = model(ids)
        ids = torch.cat([ids, new], dim=1)  # expect: growing-shape
    return ids


def join(parts):
    for part in parts:
        out = torch.zeros(4)
        out = torch.cat([out, part])
        torch_xla.sync()
    parts = torch.cat(parts)
    return parts
