# cause: structure
# new: nothing
# reason: once the adapter is added to the weights, its products are computed no more

import torch
import torch_xla
from transformers import OlmoConfig, OlmoForCausalLM

device = torch_xla.device()
torch.manual_seed(0)


class Adapter(torch.nn.Module):
    def __init__(self, base, rank, scale):
        super().__init__()
        self.base, self.scale, self.merged = base, scale, False
        self.down = torch.nn.Parameter(torch.randn(base.in_features, rank) * 0.1)
        self.up = torch.nn.Parameter(torch.randn(rank, base.out_features) * 0.1)

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scale * (self.down @ self.up).T
        self.merged = True

    def forward(self, x):
        y = self.base(x)
        if not self.merged:
            y = y + self.scale * (x @ self.down @ self.up)  # <- cause
        return y


config = OlmoConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                    max_position_embeddings=32)
model = OlmoForCausalLM(config)
attention = model.model.layers[0].self_attn
attention.v_proj = Adapter(attention.v_proj, rank=3, scale=0.6)
model.to(device).eval()
torch_xla.sync()


@torch.no_grad()
def next_tokens(prompts):
    logits = model(torch.tensor(prompts).to(device), use_cache=False).logits[:, -1]
    tokens = logits.argmax(-1)
    torch_xla.sync()  # <- call
    return tokens.tolist()


print(next_tokens([[4, 8, 15, 16], [23, 42, 4, 8]]))
print(next_tokens([[3, 1, 4, 1], [5, 9, 2, 6]]))
attention.v_proj.merge()
torch_xla.sync()
print(next_tokens([[4, 8, 15, 16], [23, 42, 4, 8]]))
