# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 17 tensors
# new: updates none
# advice: skip | torch.where
# reason: 17, because moving a model to the device unties its embeddings; a loss scale that overflows; the norm is asked for on the host before the update

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
torch_xla.sync()
scale = 2.0**80
for step in range(4):
    optimizer.zero_grad()
    loss = model(ids, labels=ids).loss
    (loss * scale).backward()
    for parameter in model.parameters():
        parameter.grad.div_(scale)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if norm.isfinite():  # <- cut
        optimizer.step()  # <- cause
    scale *= 2.0**16
    torch_xla.sync()  # <- call
