# program: SyncTensorsGraph
# cause: shape
# advice: drop_last=True

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)


class Recognizer(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.conv = nn.Conv1d(8, 12, 3, padding=1)
        self.rest = nn.Sequential(nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(12, words))

    def forward(self, spectrogram):
        return self.rest(self.conv(spectrogram))


def move(batch):
    return [part.to(device) for part in batch]  # <- cause


def train_epoch(model, optimizer, loader):
    losses = []
    for batch in loader:
        spectrogram, word = move(batch)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(spectrogram), word)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


data = TensorDataset(torch.randn(29, 8, 10), torch.randint(5, (29,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = Recognizer(5).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for epoch in range(2):
    print(epoch, train_epoch(model, optimizer, loader))
