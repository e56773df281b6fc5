# cause: stable

import math

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM, get_linear_schedule_with_warmup

device = torch_xla.device()
torch.manual_seed(0)


class Adapted(torch.nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.a = torch.nn.Parameter(torch.empty(base.in_features, rank))
        self.b = torch.nn.Parameter(torch.zeros(rank, base.out_features))
        self.dropout = torch.nn.Dropout(0.05)
        torch.nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + self.dropout(x) @ self.a @ self.b * self.scale


config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).requires_grad_(False)
for layer in model.model.layers:
    layer.self_attn.q_proj = Adapted(layer.self_attn.q_proj)
    layer.self_attn.v_proj = Adapted(layer.self_attn.v_proj)
model.to(device)
adapters = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(adapters, lr=0.1)
schedule = get_linear_schedule_with_warmup(optimizer, 2, 20)
schedule.step()
held_out = torch.randint(64, (4, 12)).to(device)
torch_xla.sync()
for step in range(6):
    model.train()
    optimizer.zero_grad()
    for _ in range(2):
        ids = torch.randint(64, (2, 12)).to(device)
        (model(ids, labels=ids).loss / 2).backward()
    torch.nn.utils.clip_grad_norm_(adapters, 1.0)
    optimizer.step()
    torch_xla.sync()
    schedule.step()
    if step % 3 == 2:
        model.eval()
        with torch.no_grad():
            loss = model(held_out, labels=held_out).loss
        torch_xla.sync()
        print(step, loss.item())
