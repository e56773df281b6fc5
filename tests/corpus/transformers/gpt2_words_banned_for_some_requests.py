# cause: arguments
# old: absent
# advice: same
# reason: the list of words is an option of a request, and an input only where it is given

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)


class Sampler:
    def __init__(self):
        self.model = GPT2LMHeadModel(config).to(device).eval()
        torch_xla.sync()

    @torch.no_grad()
    def __call__(self, request):
        ids = torch.tensor([request["ids"]]).to(device)
        logits = self.model(ids, use_cache=False).logits[:, -1]
        if request.get("banned"):
            banned = torch.tensor(request["banned"]).to(device)  # <- cause
            logits = logits.index_fill(1, banned, -1e9)
        token = logits.argmax(-1)
        torch_xla.sync()  # <- call
        return token.item()


sample = Sampler()
print(sample({"ids": [5, 9, 2, 40]}))
print(sample({"ids": [7, 1, 1, 20]}))
print(sample({"ids": [7, 1, 1, 20], "banned": [3, 17]}))
