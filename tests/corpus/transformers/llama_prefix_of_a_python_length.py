# cause: size
# old: 7
# new: 8
# reason: the ids are a buffer of full length, but the model is given a slice that a counter ends

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device).eval()
ids = torch.randint(64, (2, 16)).to(device)
torch_xla.sync()
with torch.no_grad():
    for length in range(6, 9):
        prefix = ids[:, :length]  # <- cause
        following = model(prefix, use_cache=False).logits[:, -1].argmax(-1)
        torch_xla.sync()  # <- call
        print(following.cpu())
