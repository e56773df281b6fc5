# cause: stable

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device)
model.eval()
cache = StaticCache(config=config, max_cache_len=32)
token = torch.zeros(1, 1, dtype=torch.long).to(device)
place = torch.zeros(1, dtype=torch.long).to(device)
with torch.no_grad():
    cache.early_initialization(1, 2, 8, torch.float32, device)
    torch_xla.sync()
    for step in range(6):
        logits = model(token, past_key_values=cache, cache_position=place, use_cache=True).logits
        token = logits[:, -1:].argmax(-1)
        place += 1
        torch_xla.sync()
print(token.item())
