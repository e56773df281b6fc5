# program: SyncTensorsGraph
# cause: host_read
# reason: a loop that asks whether it is done; the tokens before stay recorded

import torch
import torch_xla

device = torch_xla.device()
table = torch.randn(16, 16).to(device)
tokens = torch.zeros(1, 1, dtype=torch.long).to(device)
torch_xla.sync()
for step in range(6):
    logits = torch.nn.functional.embedding(tokens[:, -1], table)
    tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
    if (tokens[:, -1] == 17).any():  # <- cause, cut 6
        break
print(tokens.shape)
