# program: SyncTensorsGraph
# cause: size
# old: 24
# new: 32
# reason: YOLO's training at several scales: the batch has one shape, the size is a number of Python's

import random

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(5)
backbone = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1).to(device)
head = torch.nn.Linear(4, 5).to(device)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
torch_xla.sync()
for step in range(3):
    images, labels = torch.rand(2, 3, 16, 16).to(device), torch.randint(5, (2,)).to(device)
    side = (16, 24, 32)[step]
    images = F.interpolate(images, size=(side, side), mode="nearest")  # <- cause
    features = F.relu(backbone(images)).mean((2, 3))
    loss = F.cross_entropy(head(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
