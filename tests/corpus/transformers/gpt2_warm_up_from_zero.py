# cause: constant
# new: an argument

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = get_linear_schedule_with_warmup(optimizer, 2, 8)
ids = torch.randint(64, (4, 16)).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    model(ids, labels=ids).loss.backward()
    optimizer.step()  # <- cause
    schedule.step()
    torch_xla.sync()  # <- call
