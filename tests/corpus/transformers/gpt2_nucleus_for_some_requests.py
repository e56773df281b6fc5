# cause: structure
# old: nothing
# reason: a request that names top_p has a warper more

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessorList, TopPLogitsWarper

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)
model = GPT2LMHeadModel(config).to(device).eval()
torch_xla.sync()


def warpers_of(request):
    warpers = LogitsProcessorList()
    if "top_p" in request:
        warpers.append(TopPLogitsWarper(request["top_p"]))
    return warpers


@torch.no_grad()
def next_token(request):
    ids = torch.tensor([request["ids"]]).to(device)
    logits = model(ids, use_cache=False).logits[:, -1]
    logits = warpers_of(request)(ids, logits)  # <- cause
    token = logits.argmax(-1)
    torch_xla.sync()  # <- call
    return token.item()


print(next_token({"ids": [4, 8, 15, 16, 23]}))
print(next_token({"ids": [42, 1, 1, 2, 3]}))
print(next_token({"ids": [5, 8, 13, 21, 34], "top_p": 0.9}))
