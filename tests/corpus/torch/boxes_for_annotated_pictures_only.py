# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[8,4]
# advice: same keys

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

torch.manual_seed(0)


class Detector(nn.Module):
    def __init__(self, channels=8, classes=5):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, channels, 3, stride=2), nn.ReLU(),
                                   nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classes = nn.Linear(channels, classes)
        self.boxes = nn.Linear(channels, 4)

    def forward(self, batch):
        features = self.trunk(batch["picture"])
        loss = F.cross_entropy(self.classes(features), batch["label"])
        if "boxes" in batch:
            loss = loss + 5 * F.l1_loss(self.boxes(features).sigmoid(), batch["boxes"])
        return loss


def crawled():
    return {"picture": torch.rand(8, 3, 16, 16), "label": torch.randint(5, (8,))}


def annotated():
    return crawled() | {"boxes": torch.rand(8, 4)}


def to_device(batch, device):
    return {name: value.to(device) for name, value in batch.items()}  # <- cause


def main():
    device = torch_xla.device()
    model = Detector().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch_xla.sync()
    for source in (crawled, crawled, crawled, annotated, annotated):
        batch = to_device(source(), device)
        optimizer.zero_grad()
        loss = model(batch)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        print(source.__name__, loss.item())


main()
