# cause: donation
# old: donated
# new: kept
# advice: on the host

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ids = torch.randint(64, (4, 16)).to(device)
best = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()
for step in range(4):
    if step == 2:
        model.load_state_dict(best)  # <- cause
    optimizer.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
