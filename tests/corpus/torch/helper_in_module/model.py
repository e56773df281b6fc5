import torch


def forward(x, flag):
    y = x * x
    if flag:
        y = torch.cos(y)  # <- cause
    return y.sum()
