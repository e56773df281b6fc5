# program: SyncTensorsGraph
# cause: size
# old: 8
# new: 16
# reason: the corpus is on the device, and each phase takes longer windows of it

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
rows = torch.randint(30, (6, 32)).to(device)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(30, 8), nn.Linear(8, 30)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(torch.cumsum(x, 1))


model = Model().to(device)
torch_xla.sync()
for context in (8, 16):
    for _ in range(3):
        with torch.no_grad():
            window = rows[:, :context]  # <- cause
            logits = model(window)
            score = logits.logsumexp(-1).mean()
        torch_xla.sync()  # <- call
    print(context, score.item())
