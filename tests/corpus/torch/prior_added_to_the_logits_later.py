# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[5]
# reason: logit adjustment for a long tail of classes, from the second epoch on; the prior was moved long before

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Objective:
    def __init__(self, counts, adjusted_from):
        share = torch.tensor(counts) / sum(counts)
        self.log_prior = share.log().to(device)
        self.adjusted_from = adjusted_from

    def __call__(self, logits, labels, epoch):
        if epoch >= self.adjusted_from:
            logits = logits + 0.8 * self.log_prior  # <- cause
        return F.cross_entropy(logits, labels, label_smoothing=0.05)


counts = [400, 150, 60, 25, 10]
model = nn.Sequential(nn.Linear(7, 14), nn.SiLU(), nn.Linear(14, 5, bias=False)).to(device)
objective = Objective(counts, adjusted_from=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
torch_xla.sync()
for epoch in range(3):
    for _ in range(2):
        x = torch.randn(16, 7).to(device)
        y = torch.multinomial(torch.tensor(counts).float(), 16, replacement=True).to(device)
        optimizer.zero_grad()
        loss = objective(model(x), y, epoch)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
