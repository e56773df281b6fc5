# program: SyncTensorsGraph
# cause: arguments
# old: absent
# advice: before the first step

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(18)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(2, 6, 3, padding=1)
        self.up = nn.Conv2d(6, 2, 1)

    def forward(self, images):
        return self.up(torch.relu(self.down(images)))


def scenes(count):
    for _ in range(count):
        images = torch.rand(3, 2, 6, 6)
        yield images.to(device), (images.sum(1) > 1).long().to(device)


model = Segmenter().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
criterion = nn.CrossEntropyLoss()
torch_xla.sync()
for images, masks in scenes(4):
    optimizer.zero_grad()
    loss = criterion(model(images), masks)
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
print(loss.item())
