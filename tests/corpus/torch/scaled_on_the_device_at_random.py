# program: SyncTensorsGraph
# cause: size
# old: 16
# new: 12
# reason: pictures are resized on the device, to a size that Python draws

import random

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(),
                            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 2))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(4):
    size = 16 if step < 3 else 12
    x, y = torch.rand(2, 3, 20, 20).to(device), torch.randint(2, (2,)).to(device)
    x = torch.nn.functional.interpolate(x, size=(size, size), mode="nearest")  # <- cause
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
