# program: SyncTensorsGraph
# cause: structure
# subject: optimizer

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(4)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(3))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def thaw(model, epoch):
    """The head first, then a block more in each second epoch, the last one first."""
    model.blocks.requires_grad_(False)
    for block in list(model.blocks)[len(model.blocks) - epoch // 2:]:
        block.requires_grad_(True)


model = Network().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
torch_xla.sync()
for epoch in range(6):
    thaw(model, epoch)
    for _ in range(2):
        x, labels = torch.randn(6, 8).to(device), torch.randint(3, (6,)).to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), labels)
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
