# program: SyncTensorsGraph
# cause: first
# reason: the sum of the losses is divided by how many tokens there are, which the host reads from the mask

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, words=40, tags=5, width=8):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.tags = nn.Linear(width, tags)

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        return self.tags(torch.relu(self.mix(x)).transpose(1, 2))


def masked_loss(logits, tags, mask):
    losses = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), reduction="none")
    losses = losses * mask.flatten()
    return losses.sum() / mask.sum().item()  # <- cut


model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
torch_xla.sync()
for lengths in ((4, 9, 6), (9, 9, 5), (7, 3, 8), (2, 6, 9)):
    ids, tags = torch.randint(40, (3, 9)).to(device), torch.randint(5, (3, 9)).to(device)
    mask = (torch.arange(9) < torch.tensor(lengths)[:, None]).float().to(device)
    optimizer.zero_grad()
    loss = masked_loss(model(ids), tags, mask)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
    print(loss.item())
