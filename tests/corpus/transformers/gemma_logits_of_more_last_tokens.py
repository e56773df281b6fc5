# cause: size
# reason: how many of the last tokens get logits is a number of Python's; a draft of four tokens is checked at last

import torch
import torch_xla
from transformers import GemmaConfig, GemmaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = GemmaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                     num_key_value_heads=1, head_dim=8, max_position_embeddings=32)
model = GemmaForCausalLM(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def surest(ids, checked):
    logits = model(ids.to(device), use_cache=False, logits_to_keep=checked).logits  # <- cause
    sureness = logits.softmax(-1).amax(-1).mean(1)
    torch_xla.sync()  # <- call
    return sureness.tolist()


for checked in (2, 2, 4):
    print(checked, surest(torch.randint(64, (2, 10)), checked))
