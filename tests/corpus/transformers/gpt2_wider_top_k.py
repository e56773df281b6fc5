# cause: size
# old: 5
# new: 10
# reason: candidates are ranked among the best five, then among the best ten

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager")
model = GPT2LMHeadModel(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def candidates(ids, k):
    logits = model(input_ids=ids, use_cache=False).logits[:, -1]
    return torch.topk(logits, k, dim=-1).indices  # <- cause


for k in (5, 5, 10):
    ids = torch.randint(50, (3, 8)).to(device)
    best = candidates(ids, k)
    torch_xla.sync()  # <- call
    print(k, best.cpu()[0].tolist())
