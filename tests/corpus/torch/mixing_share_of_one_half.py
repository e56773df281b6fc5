# program: SyncTensorsGraph
# cause: arguments
# reason: at one half, the share and what is left of it are one number

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(7)
SHARES = (0.7, 0.6, 0.5, 0.4)


def mix_up(images, share):
    other = images.flip(0)
    return share * images + (1 - share) * other  # <- cause


def loss_of(logits, labels, share):
    losses = nn.functional.cross_entropy(logits, labels, reduction="none")
    return losses.mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 4))

    def forward(self, images):
        return self.layers(images)


model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
torch_xla.sync()
for share in SHARES[:3]:
    images, labels = torch.rand(6, 1, 6, 6).to(device), torch.randint(4, (6,)).to(device)
    optimizer.zero_grad()
    loss = loss_of(model(mix_up(images, share)), labels, share)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(share, loss.item())
