# program: SyncTensorsGraph
# cause: constant
# old: an argument
# new: 1
# reason: the bound of the norm is a number of the host, an argument until it is 1

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
BOUNDS = {0: 0.4, 1: 0.7, 2: 1.0}  # of the norm, by epoch


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


model = Sequence().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.08)
torch_xla.sync()
for epoch, bound in BOUNDS.items():
    for _ in range(2):
        x, y = torch.randn(8, 4, 3).to(device), torch.randn(8, 1).to(device)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), bound)  # <- cause
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, bound, loss.item())
