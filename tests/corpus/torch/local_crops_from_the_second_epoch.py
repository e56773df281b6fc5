# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[4,3,8,8]
# reason: two global crops of each picture at first, then two smaller ones as well

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, prototypes=6):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.head = nn.Linear(8, prototypes, bias=False)

    def forward(self, images):
        return self.head(F.gelu(self.conv(images)).mean((2, 3)))


def crops_of(images, local):
    sizes = [12, 12] + [8, 8] * local
    crops = []
    for size in sizes:
        top, left = (torch.randint(16 - size + 1, (2,))).tolist()
        crops.append(images[..., top:top + size, left:left + size])
    return crops


def loss_of(outputs):
    targets = [output.detach().softmax(-1) for output in outputs[:2]]
    pairs = [-(target * output.log_softmax(-1)).sum(-1).mean()
             for i, target in enumerate(targets) for j, output in enumerate(outputs) if i != j]
    return sum(pairs) / len(pairs)


model = Encoder().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for epoch in range(2):
    for _ in range(2):
        crops = crops_of(torch.rand(4, 3, 16, 16), local=epoch == 1)
        crops = [crop.contiguous().to(device) for crop in crops]  # <- cause
        optimizer.zero_grad()
        loss = loss_of([model(crop) for crop in crops])
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
