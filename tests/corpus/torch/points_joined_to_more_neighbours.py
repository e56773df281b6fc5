# program: SyncTensorsGraph
# cause: size
# old: 3
# new: 5
# reason: a graph of points (DGCNN): in the last test each point is joined to more neighbours

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class EdgeConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * inputs, outputs), nn.LeakyReLU(0.2))

    def forward(self, points, count):
        gaps = (points[:, :, None] - points[:, None]).pow(2).sum(-1)
        nearest = gaps.topk(count, largest=False).indices  # <- cause
        rows = torch.arange(len(points), device=points.device)[:, None, None]
        near = points[rows, nearest]
        own = points[:, :, None].expand_as(near)
        return self.edge(torch.cat([own, near - own], -1)).amax(2)


layer, head = EdgeConvolution(3, 8).to(device), nn.Linear(8, 4).to(device)
torch_xla.sync()


@torch.no_grad()
def classify(points, count):
    best = head(layer(points, count).amax(1)).argmax(1)
    torch_xla.sync()  # <- call
    return best.tolist()


for count in (3, 3, 5):
    print(count, classify(torch.randn(2, 12, 3).to(device), count))
