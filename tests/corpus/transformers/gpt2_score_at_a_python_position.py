# cause: constant
# old: 4
# new: 8
# reason: the prompts are padded to one length, but the place of the last token is a number of Python's

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)
model = GPT2LMHeadModel(config).to(device).eval()
torch_xla.sync()


def padded(prompt, length=16):
    return torch.tensor([prompt + [0] * (length - len(prompt))])


@torch.no_grad()
def probabilities(prompt):
    last = len(prompt) - 1
    ids = padded(prompt).to(device)
    logits = model(ids, use_cache=False).logits
    scores = logits[0, last].log_softmax(-1)  # <- cause
    torch_xla.sync()  # <- call
    return scores.cpu()


for prompt in ([5, 9, 2, 40, 33], [7, 1, 1, 20, 31, 6, 8, 50, 2]):
    print(probabilities(prompt).max())
