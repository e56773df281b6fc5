# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: a second term of the loss begins with the second epoch

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class DepthLoss(nn.Module):
    def __init__(self, smoothness, begins_at):
        super().__init__()
        self.smoothness, self.begins_at, self.epoch = smoothness, begins_at, 0

    def forward(self, predicted, depth):
        loss = (predicted - depth).abs().mean()
        if self.epoch >= self.begins_at:
            loss = loss + self.smoothness * (predicted[..., 1:] - predicted[..., :-1]).abs().mean()  # <- cause
        return loss


model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ELU(), nn.Conv2d(8, 1, 3, padding=1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = DepthLoss(smoothness=0.15, begins_at=1)
torch_xla.sync()
for epoch in range(2):
    criterion.epoch = epoch
    for _ in range(3):
        images, depth = torch.rand(2, 3, 8, 12).to(device), torch.rand(2, 1, 8, 12).to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), depth)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(f"epoch {epoch}: {loss.item():.4f}")
