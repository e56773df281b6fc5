# cause: constant
# subject: multiply
# old: 1
# new: an argument
# reason: a scale of 1 is baked in, any other is an argument

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)


class LowRank(torch.nn.Module):
    def __init__(self, base, inputs, outputs, rank=2):
        super().__init__()
        self.base, self.scale = base, 1.0
        self.down = torch.nn.Linear(inputs, rank, bias=False)
        self.up = torch.nn.Linear(rank, outputs, bias=False)

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(x))  # <- cause


config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)
model = GPT2LMHeadModel(config)
block = model.transformer.h[0]
block.mlp.c_proj = LowRank(block.mlp.c_proj, 64, 16)
model.to(device).eval()
torch_xla.sync()
prompts = torch.randint(64, (3, 1, 8))
with torch.no_grad():
    for scale, prompt in zip((1.0, 1.0, 0.5), prompts):
        block.mlp.c_proj.scale = scale
        token = model(prompt.to(device), use_cache=False).logits[:, -1].argmax(-1)
        torch_xla.sync()  # <- call
        print(token.item())
