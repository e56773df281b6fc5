# cause: size
# old: 4
# new: 6

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
model.eval()
ids = torch.randint(64, (4, 16)).to(device)
torch_xla.sync()
with torch.no_grad():
    for k in (4, 4, 6):
        best = model(ids).logits[:, -1].topk(k).indices  # <- cause
        torch_xla.sync()  # <- call
