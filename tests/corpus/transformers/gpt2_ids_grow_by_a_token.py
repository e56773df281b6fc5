# cause: shape
# pattern: unpadded
# reason: greedy decoding without a cache appends each token to the input of the next step

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager")
model = GPT2LMHeadModel(config).to(device).eval()
ids = torch.randint(50, (2, 4)).to(device)
torch_xla.sync()
for _ in range(6):
    with torch.no_grad():
        logits = model(input_ids=ids, use_cache=False).logits[:, -1]
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)  # <- cause
    torch_xla.sync()  # <- call
print(ids.tolist())
