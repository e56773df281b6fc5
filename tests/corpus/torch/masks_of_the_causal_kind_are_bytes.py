# program: SyncTensorsGraph
# cause: dtype
# old: bool[6,6]
# new: f32[6,6]
# advice: .to(dtype)
# reason: one script builds the mask of booleans, the other one of numbers that are added

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


def boolean_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def additive_mask(length):
    return torch.zeros(length, length).masked_fill(~boolean_mask(length), float("-inf"))


project = torch.nn.Linear(8, 24).to(device)
torch_xla.sync()
for make in (boolean_mask, boolean_mask, additive_mask):
    tokens = torch.randn(2, 6, 8).to(device)
    mask = make(6).to(device)  # <- cause
    with torch.no_grad():
        q, k, v = project(tokens).chunk(3, dim=-1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch_xla.sync()  # <- call
