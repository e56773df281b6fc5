# program: SyncTensorsGraph
# cause: structure
# reason: statistics of the batch are computed no more; the stored ones are used, and not updated

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 4)

    def forward(self, images):
        x = self.conv(images)
        x = self.norm(x)  # <- cause
        return self.head(torch.relu(x).mean((2, 3)))


def freeze_statistics(model):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


model = Net().to(device)
model.conv.requires_grad_(False)
model.norm.requires_grad_(False)
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
torch_xla.sync()
for epoch in range(3):
    model.train()
    if epoch == 2:
        freeze_statistics(model)
    for _ in range(2):
        images = torch.rand(6, 3, 8, 8).to(device)
        labels = torch.randint(4, (6,)).to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
