# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[4,12]

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.score = nn.Linear(8, 16), nn.Linear(16, 1)
        self.head = nn.Linear(16, 3)

    def forward(self, frames, mask=None):
        x = torch.tanh(self.project(frames))
        weights = self.score(x).squeeze(-1).softmax(-1)
        if mask is not None:
            weights = weights * mask
        return self.head((weights[..., None] * x).sum(1))


def collate(lengths):
    frames, mask = torch.zeros(4, 12, 8), torch.zeros(4, 12)
    for row, length in enumerate(lengths):
        frames[row, :length], mask[row, :length] = torch.randn(length, 8), 1.0
    return frames, None if min(lengths) == 12 else mask


model = Pooling().to(device)
torch_xla.sync()
for lengths in ((12, 12, 12, 12), (12, 12, 12, 12), (12, 7, 9, 12)):
    frames, mask = collate(lengths)
    with torch.no_grad():
        logits = model(frames.to(device), mask if mask is None else mask.to(device))  # <- cause
    torch_xla.sync()  # <- call
    print(logits.argmax(-1).tolist())
