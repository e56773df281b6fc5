# cause: shape
# old: f32[64,16]
# new: f32[72,16]
# and
# cause: arguments
# old: f32[64,16]
# new: absent
# reason: moving a model to the device unties its embeddings, and another size ties them again

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).to(device)
ids = torch.randint(64, (4, 16)).to(device)


def train(steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(ids, labels=ids).loss  # <- cause, cause 2
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call, call 2


torch_xla.sync()
train(2)
model.resize_token_embeddings(72, mean_resizing=False)
torch_xla.sync()
train(2)
