import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Experts(nn.Module):
    def forward(self, x: torch.Tensor, labels, scores: torch.Tensor):
        rows = x[labels != -100]  # expect: boolean-index
        kept = torch.masked_select(x, x > 0)  # expect: data-dependent-shape
        where = torch.nonzero(x)  # expect: data-dependent-shape
        places = (x > 0).nonzero(as_tuple=True)  # expect: data-dependent-shape
        index = torch.where(scores > 0)  # expect: data-dependent-shape
        chosen = torch.where(scores > 0, x, 0)
        values = torch.unique(labels)  # expect: data-dependent-shape
        long = torch.repeat_interleave(x, labels.sum(-1))  # expect: data-dependent-shape
        twice = torch.repeat_interleave(x, 2)
        hot = F.one_hot(labels)  # expect: data-dependent-shape
        fixed = F.one_hot(labels, 16)
        n = int(labels.max())  # expect: host-read
        head = x[:n]  # expect: value-dependent-size
        steps = torch.arange(n, device=x.device)  # expect: value-dependent-size
        wide = x.repeat(1, n)  # expect: value-dependent-size
        best = torch.topk(x, n)  # expect: value-dependent-size
        parts = x.split(labels.tolist())  # expect: host-read, value-dependent-size
        spread = x.repeat_interleave(labels.sum(-1), dim=0)  # expect: data-dependent-shape
        pairs = x.repeat_interleave(2, dim=0).split(4), torch.topk(x, 4)
        half = x[: x.size(0) // 2]
        x[x > 0] = 0
        names = {"a": 1}
        one = names["a"]
        return rows, kept, where, places, index, chosen, values, long, twice, hot, fixed, head, steps, wide, half, one, best, parts, spread, pairs
