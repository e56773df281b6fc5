# program: SyncTensorsGraph
# cause: shape
# advice: Allocate the full length
# reason: the embeddings of each batch are appended to the negatives of the following ones

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class MemoryBank:
    def __init__(self, width):
        self.rows = F.normalize(torch.randn(8, width), dim=1).to(device)

    def append(self, rows):
        self.rows = torch.cat([self.rows, rows.detach()])  # <- cause


def info_nce(anchors, positives, bank, temperature=0.2):
    near = (anchors * positives).sum(dim=1, keepdim=True)
    far = anchors @ bank.rows.t()
    logits = torch.cat([near, far], dim=1) / temperature
    return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()


def views(count):
    for _ in range(count):
        x = torch.randn(4, 8)
        yield x + 0.1 * torch.randn(4, 8), x


model = torch.nn.Linear(8, 6).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
bank = MemoryBank(6)
torch_xla.sync()
for one, two in views(5):
    optimizer.zero_grad()
    anchors = F.normalize(model(one.to(device)), dim=1)
    positives = F.normalize(model(two.to(device)), dim=1)
    loss = info_nce(anchors, positives, bank)
    loss.backward()
    optimizer.step()
    bank.append(positives)
    torch_xla.sync()  # <- call
print(loss.item())
