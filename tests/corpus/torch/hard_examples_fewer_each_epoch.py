# program: SyncTensorsGraph
# cause: size
# old: 12
# new: 8
# reason: the loss takes the hardest examples only, a share of the batch that falls

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class HardestExamples(nn.Module):
    def __init__(self, shares):
        super().__init__()
        self.shares, self.epoch = shares, 0

    def forward(self, logits, labels):
        losses = nn.functional.cross_entropy(logits, labels, reduction="none")
        count = int(self.shares[self.epoch] * len(losses))
        hardest, _ = losses.topk(count)  # <- cause
        return hardest.mean()


model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = HardestExamples((0.75, 0.5))
torch_xla.sync()
for epoch in range(2):
    criterion.epoch = epoch
    for _ in range(2):
        x, y = torch.randn(16, 6).to(device), torch.randint(4, (16,)).to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
