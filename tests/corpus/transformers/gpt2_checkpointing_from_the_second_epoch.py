# cause: structure
# old: nothing
# reason: what checkpointing forgets is computed again in the backward pass

import torch
import torch_xla
from torch_xla.utils.checkpoint import checkpoint
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)


def thrifty(forward):
    def run(hidden, *rest, **named):
        return checkpoint(lambda x: forward(x, *rest, **named), hidden, preserve_rng_state=False)  # <- cause
    return run


config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
model = GPT2LMHeadModel(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = torch.randint(64, (8, 16))
torch_xla.sync()
for epoch in range(2):
    if epoch == 1:
        for block in model.transformer.h:
            block.forward = thrifty(block.forward)
    for ids in data.split(4):
        ids = ids.to(device)
        optimizer.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
