# cause: structure
# old: nothing
# advice: fixed
# reason: a layer is added; its weights come with it

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)


class Adapted(torch.nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base, self.enabled = base, False
        self.a = torch.nn.Parameter(torch.randn(base.in_features, rank) * 0.02)
        self.b = torch.nn.Parameter(torch.zeros(rank, base.out_features))

    def forward(self, x):
        y = self.base(x)
        if self.enabled:
            y = y + x @ self.a @ self.b  # <- cause
        return y


config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config)
attention = model.model.layers[0].self_attn
attention.q_proj = Adapted(attention.q_proj, rank=4)
model.to(device).eval()
ids = torch.randint(64, (2, 8)).to(device)
torch_xla.sync()
with torch.no_grad():
    for enabled in (False, False, True):
        attention.q_proj.enabled = enabled
        logits = model(ids, use_cache=False).logits
        torch_xla.sync()  # <- call
