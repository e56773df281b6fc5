# program: SyncTensorsGraph
# cause: size
# reason: a radiance field: the places along a ray are made on the device, more of them in the last epoch

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Field(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Softplus(), nn.Linear(width, 4))

    def render(self, origins, directions, samples):
        depth = torch.linspace(0.5, 2.5, samples, device=device)  # <- cause
        points = origins[:, None] + directions[:, None] * depth[None, :, None]
        raw = self.net(points)
        colour, density = raw[..., :3].sigmoid(), raw[..., 3].relu()
        seen = torch.exp(-density.cumsum(1))
        weight = seen * density / (1.5 + density)
        return (weight[..., None] * colour).sum(1)


field = Field().to(device)
optimizer = torch.optim.SGD(field.parameters(), lr=0.05)
torch_xla.sync()
for epoch, samples in enumerate((8, 8, 12)):
    for _ in range(2):
        origins, directions = torch.randn(10, 3).to(device), torch.randn(10, 3).to(device)
        target = torch.rand(10, 3).to(device)
        optimizer.zero_grad()
        loss = (field.render(origins, directions, samples) - target).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, samples, loss.item())
