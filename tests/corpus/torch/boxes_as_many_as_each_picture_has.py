# program: SyncTensorsGraph
# cause: shape
# pattern: unpadded
# advice: Pad
# reason: each picture has as many boxes as it has; the detector always predicts six

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch_xla.device()
torch.manual_seed(0)


class Street(Dataset):
    counts = (3, 5, 2, 7, 4)

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, index):
        return torch.rand(3, 16, 16), torch.rand(self.counts[index], 4)


class Detector(nn.Module):
    def __init__(self, queries=6, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 4, stride=4)
        self.out = nn.Linear(width * 16, queries * 4)

    def forward(self, pictures):
        features = torch.relu(self.conv(pictures)).flatten(1)
        return self.out(features).sigmoid().unflatten(1, (-1, 4))


def matching_loss(predicted, boxes):
    distance = (predicted[:, None] - boxes[None]).abs().sum(-1)
    return distance.amin(0).mean() + 0.2 * distance.amin(1).mean()


model = Detector().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for picture, boxes in DataLoader(Street(), batch_size=1):
    picture, boxes = picture.to(device), boxes[0].to(device)  # <- cause
    optimizer.zero_grad()
    loss = matching_loss(model(picture)[0], boxes)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(len(boxes), loss.item())
