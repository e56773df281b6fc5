# program: SyncTensorsGraph
# cause: host_read
# advice: torch_xla.sync()

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device)
model.eval()
prompt = torch.randint(2, 64, (1, 6)).to(device)
torch_xla.sync()
tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=5,  # <- cause, cut 10
                        do_sample=False, pad_token_id=0, eos_token_id=None)
print(tokens.shape)
