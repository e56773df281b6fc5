# program: SyncTensorsGraph
# cause: constant
# old: 2
# new: 5
# reason: a stripe of fixed width, but it begins where a random number of Python's says

import random

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(3)
model = torch.nn.GRU(6, 8, batch_first=True).to(device)
head = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)


def masked(spectrogram, width=2):
    start = dice.randrange(1, spectrogram.shape[1] - width)
    spectrogram = spectrogram.clone()
    spectrogram[:, start:start + width] = 0  # <- cause
    return spectrogram


for step in range(4):
    x, y = torch.randn(4, 8, 6).to(device), torch.randint(2, (4,)).to(device)
    states, _ = model(masked(x))
    loss = torch.nn.functional.cross_entropy(head(states.mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
