# cause: shape
# pattern: unpadded
# advice: full length | static

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device)
model.eval()
token = torch.zeros(1, 1, dtype=torch.long).to(device)
prompt = torch.zeros(1, 4, dtype=torch.long).to(device)
torch_xla.sync()
with torch.no_grad():
    cache = model(prompt, use_cache=True).past_key_values
    torch_xla.sync()
    for step in range(5):
        result = model(token, past_key_values=cache, use_cache=True)  # <- cause
        cache = result.past_key_values
        token = result.logits[:, -1:].argmax(-1)
        torch_xla.sync()  # <- call
