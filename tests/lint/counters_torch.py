import torch
import torch.nn as nn
import torch_xla


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.overflow = 0
        self.limit = 4
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor):
        self.overflow += 1
        self.count += 1
        return x * self.overflow + self.count * self.limit  # expect: counter-attribute
