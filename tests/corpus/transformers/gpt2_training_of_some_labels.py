# cause: shape
# advice: torch.where

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for count in (5, 9, 7):
    ids = torch.randint(64, (2, 16)).to(device)
    chosen = torch.arange(32).reshape(2, 16) < count
    keep = chosen.to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(ids).logits[keep], ids[keep])  # <- cause, read
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
