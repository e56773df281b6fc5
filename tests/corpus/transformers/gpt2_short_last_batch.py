# cause: shape
# old: i64[8,16]
# new: i64[5,16]
# advice: drop_last

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randint(64, (21, 16))
for start in range(0, 21, 8):
    ids = data[start:start + 8].to(device)  # <- cause
    optimizer.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
