# program: SyncTensorsGraph
# cause: constant
# pattern: counter
# reason: the position in the buffer is a number of the host

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
HEADS, LENGTH = 2, 12


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.kv, self.out = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 20)
        self.register_buffer("keys", torch.zeros(3, LENGTH, 8))

    def forward(self, token, position):
        x = self.embed(token)
        self.keys[:, position] = self.kv(x)  # <- cause
        weights = (self.keys @ x[..., None]).softmax(1)
        return self.out((weights * self.keys).sum(1))


model = Decoder().to(device)
token = torch.zeros(3, dtype=torch.long).to(device)
torch_xla.sync()
said = []
for position in range(6):
    with torch.no_grad():
        logits = model(token, position)
        token = logits.argmax(-1)
    torch_xla.sync()  # <- call
    said.append(token.tolist())
print(said)
