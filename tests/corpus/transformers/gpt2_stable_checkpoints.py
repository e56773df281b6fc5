# cause: stable

import tempfile

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
with tempfile.TemporaryDirectory() as folder:
    for step in range(6):
        if step == 2:
            torch.save({name: value.cpu() for name, value in model.state_dict().items()},
                       f"{folder}/model.pt")
        if step == 4:
            model.load_state_dict(torch.load(f"{folder}/model.pt"))
        optimizer.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()
