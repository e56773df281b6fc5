# cause: structure
# old: nothing
# reason: from the second window on the labels of what was seen before are blanked on the device

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)
model = GPT2LMHeadModel(config).to(device).eval()
text = torch.randint(64, (1, 20))
torch_xla.sync()
losses = []
with torch.no_grad():
    for start in range(0, 13, 4):
        ids = text[:, start:start + 8].to(device)
        labels = ids.clone()
        if start:
            labels[:, :4] = -100  # <- cause
        loss = model(ids, labels=labels, use_cache=False).loss
        torch_xla.sync()  # <- call
        losses.append(loss.item())
print(sum(losses) / len(losses))
