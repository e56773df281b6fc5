# program: SyncTensorsGraph
# cause: shape
# old: f32[1,2,12,8]
# new: f32[1,2,16,8]
# reason: a cache of fixed length, but of another one for each request

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device).eval()
torch_xla.sync()


def fresh_cache(length):
    cache = StaticCache(config=config, max_cache_len=length)
    cache.early_initialization(1, 2, 8, torch.float32, device)  # <- cause
    torch_xla.sync()
    return cache


@torch.no_grad()
def answer(start, new_tokens):
    cache = fresh_cache(new_tokens)
    token = torch.tensor([[start]]).to(device)
    place = torch.zeros(1, dtype=torch.long).to(device)
    tokens = []
    for _ in range(4):
        logits = model(token, past_key_values=cache, cache_position=place, use_cache=True).logits
        token = logits[:, -1:].argmax(-1)
        place += 1
        torch_xla.sync()  # <- call
        tokens.append(token)
    return [token.item() for token in tokens]


print(answer(3, 12))
print(answer(5, 16))
