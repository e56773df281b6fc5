from typing import Optional

import torch
import torch.nn as nn
import torch_xla


class Attention(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.dropout = dropout

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None, training=False):
        if mask is not None and mask.any():  # expect: branch-on-value
            x = x.masked_fill(mask, 0)
        if (x > 1).all():  # expect: branch-on-value
            x = x / 2
        while x.norm() > 1:  # expect: branch-on-value
            x = x * 0.5
        if x.size(0) > 4 and x.shape[1] > 2 and x.dim() == 2:
            x = x[:4]
        if training or self.training or self.dropout > 0:
            x = torch.nn.functional.dropout(x, self.dropout)
        if x.is_cuda:
            x = x if x.sum() > 0 else -x
        if mask:
            x = x + 1
        return self.helper(self.static_helper(x, 4))

    @staticmethod
    def static_helper(x, width):
        if width > 4:
            return x[:width]
        return x[: width + 1] if x.max() > 0 else x  # expect: branch-on-value

    def helper(self, y):
        assert torch.isfinite(y).all()  # expect: branch-on-value
        return y


def not_traced(x):
    if x.sum() > 0:
        return x
    return -x


torch_xla.sync()
