# cause: constant
# advice: tensor
# reason: arange has its first number in the program

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device).eval()
text = torch.randint(64, (2, 32))
with torch.no_grad():
    for start in range(0, 32, 8):
        chunk = text[:, start:start + 8].to(device)
        positions = torch.arange(start, start + 8, device=device).unsqueeze(0)  # <- cause
        logits = model(chunk, position_ids=positions, use_cache=False).logits
        torch_xla.sync()  # <- call
