# cause: structure
# old: nothing
# new: slice
# reason: the last batch is filled up with rows that are cut off on the device

import torch
import torch_xla
from transformers import GPT2Config, GPT2ForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2, num_labels=2, pad_token_id=0)
model = GPT2ForSequenceClassification(config).to(device).eval()
mask = torch.ones(4, 9).to(device)
data, size = torch.randint(1, 64, (11, 9)), 4
torch_xla.sync()
chosen = []
with torch.no_grad():
    for start in range(0, len(data), size):
        rows = data[start:start + size]
        filled = torch.cat([rows, torch.ones(size - len(rows), 9, dtype=torch.long)])
        best = model(filled.to(device), attention_mask=mask, use_cache=False).logits.argmax(-1)
        if len(rows) < size:
            best = best[:len(rows)]  # <- cause
        torch_xla.sync()  # <- call
        chosen.append(best.cpu())
print(torch.cat(chosen).shape)
