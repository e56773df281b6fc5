# program: SyncTensorsGraph
# cause: shape
# old: f32[16,24]
# new: f32[8,24]
# advice: drop the short batch | pad

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(nn.Module):
    def __init__(self, width, code):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, width))

    def forward(self, windows):
        return self.decoder(self.encoder(windows))


def cut_windows(signal, length, stride):
    return signal.unfold(0, length, stride)


def train_epoch(model, loader, optimizer, device):
    total = 0.0
    for (windows,) in loader:
        windows = windows.to(device)  # <- cause
        optimizer.zero_grad()
        loss = F.mse_loss(model(windows), windows)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    signal = torch.sin(torch.arange(492) / 7) + 0.1 * torch.randn(492)
    loader = DataLoader(TensorDataset(cut_windows(signal, 24, 12)), batch_size=16, shuffle=True)
    model = Autoencoder(24, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch_xla.sync()
    for epoch in range(2):
        print(epoch, train_epoch(model, loader, optimizer, device))


if __name__ == "__main__":
    main()
