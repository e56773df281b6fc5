# cause: stable

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)


class LowRank(torch.nn.Module):
    def __init__(self, base, inputs, outputs, rank=2, alpha=8):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.down = torch.nn.Parameter(torch.randn(inputs, rank) * 0.01)
        self.up = torch.nn.Parameter(torch.zeros(rank, outputs))

    def forward(self, x):
        return self.base(x) + x @ self.down @ self.up * self.scale


config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2, attn_pdrop=0.0,
                    resid_pdrop=0.0, embd_pdrop=0.0)
model = GPT2LMHeadModel(config).requires_grad_(False)
attention = model.transformer.h[0].attn
attention.c_attn = LowRank(attention.c_attn, 16, 48)
model.to(device)
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.SGD(trained, lr=0.1)
torch_xla.sync()


def train(ids):
    optimizer.zero_grad()
    model(ids, labels=ids, use_cache=False).loss.backward()
    optimizer.step()
    torch_xla.sync()


@torch.no_grad()
def evaluate(ids):
    loss = model(ids, labels=ids, use_cache=False).loss
    torch_xla.sync()
    return loss.item()


for epoch in range(3):
    for _ in range(2):
        train(torch.randint(64, (2, 8)).to(device))
    print(epoch, evaluate(torch.randint(64, (4, 8)).to(device)))
