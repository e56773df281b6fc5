# program: SyncTensorsGraph
# cause: structure
# old: nothing
# new: reverse
# reason: a coin of Python's decides whether the images are flipped on the device

import torch
import torch_xla
from augment import Augment

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(4 * 6 * 6, 5)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
augment = Augment(seed=23)
torch_xla.sync()
for step in range(4):
    images = torch.rand(4, 3, 8, 8).to(device)
    labels = torch.randint(5, (4,)).to(device)
    loss = torch.nn.functional.cross_entropy(model(augment(images)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
