# cause: stable

import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(2)
BATCH = 8


class Classifier(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2)
        self.norm = nn.GroupNorm(2, 8)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(8, classes)

    def forward(self, images):
        x = torch.relu(self.norm(self.first(images)))
        return self.head(self.dropout(x.mean((2, 3))))


def augmented(images):
    top, left = dice.randrange(5), dice.randrange(5)
    images = images[:, :, top:top + 12, left:left + 12]
    if dice.random() < 0.5:
        images = images.flip(3)
    return images.contiguous()


def full(images, labels):
    """A short batch with rows that do not count."""
    missing = BATCH - len(images)
    return F.pad(images, (0, 0, 0, 0, 0, 0, 0, missing)), F.pad(labels, (0, missing), value=-100)


def train_epoch(model, optimizer, loader):
    model.train()
    for images, labels in loader:
        images, labels = full(augmented(images), labels)
        images, labels = images.to(device), labels.to(device)
        images = images * dice.uniform(0.6, 0.9) + dice.uniform(0.02, 0.1)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.07)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        torch_xla.sync()
    return loss.item()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, seen = 0, 0
    for images, labels in loader:
        guessed = model(full(images[:, :, 2:14, 2:14], labels)[0].to(device)).argmax(1)
        torch_xla.sync()
        right += (guessed.cpu()[:len(labels)] == labels).sum().item()
        seen += len(labels)
    return right / seen


data = TensorDataset(torch.rand(21, 3, 16, 16), torch.randint(4, (21,)))
loader = DataLoader(data, batch_size=BATCH, shuffle=True)
model = Classifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.09)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.65)
torch_xla.sync()
for epoch in range(3):
    print(epoch, train_epoch(model, optimizer, loader), evaluate(model, loader))
    schedule.step()
