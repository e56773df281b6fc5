# cause: shape
# old: i64[3,7]
# new: i64[3,8]
# advice: full length

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device).eval()
beams, vocabulary = 3, 64
ids = torch.randint(64, (1, 5)).repeat(beams, 1).to(device)
scores = torch.tensor([0.0, -1e9, -1e9]).to(device)
torch_xla.sync()
with torch.no_grad():
    for _ in range(4):
        logits = model(ids, use_cache=False).logits[:, -1]
        totals = scores[:, None] + logits.log_softmax(-1)
        scores, best = totals.flatten().topk(beams)
        parents, tokens = best // vocabulary, best % vocabulary
        ids = torch.cat([ids[parents], tokens[:, None]], dim=1)  # <- cause
        torch_xla.sync()  # <- call
