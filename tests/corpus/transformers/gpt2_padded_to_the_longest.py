# cause: shape
# pattern: unpadded
# advice: Pad

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in (16, 24, 20, 28):
    ids = torch.randint(64, (4, length)).to(device)  # <- cause
    optimizer.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
