# cause: shape
# old: f32[4,16]
# new: f32[8,16]
# advice: Pad

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)


class Adapted(torch.nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.adapter = base, None

    def load(self, rank):
        a, b = torch.randn(self.base.in_features, rank), torch.randn(rank, self.base.out_features)
        self.adapter = [value.to(device) for value in (a, b)]  # <- cause

    def forward(self, x):
        a, b = self.adapter
        return self.base(x) + (x @ a) @ b


config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config)
attention = model.model.layers[0].self_attn
attention.v_proj = Adapted(attention.v_proj)
model.to(device).eval()
ids = torch.randint(64, (2, 8)).to(device)
torch_xla.sync()
with torch.no_grad():
    for rank in (4, 4, 8):
        attention.v_proj.load(rank)
        best = model(ids, use_cache=False).logits.argmax(-1)
        torch_xla.sync()  # <- call
