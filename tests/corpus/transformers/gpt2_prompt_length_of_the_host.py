# cause: host_read
# old: 4
# new: 6

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for prompt in (4, 4, 6):
    ids = torch.randint(64, (4, 16)).to(device)
    begins = torch.full((4,), prompt).to(device)
    torch_xla.sync()
    shared = int(begins.min())  # <- cause
    optimizer.zero_grad()
    logits = model(ids).logits
    loss = torch.nn.functional.cross_entropy(logits[:, shared:shared + 8].flatten(0, 1),
                                             ids[:, 1:9].flatten())
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
