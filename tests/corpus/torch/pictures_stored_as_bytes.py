# program: SyncTensorsGraph
# cause: dtype
# old: f32[4,3,8,8]
# new: u8[4,3,8,8]
# reason: the second source gives bytes; the model converts them

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 6, 3, stride=2), nn.Linear(54, 4)

    def forward(self, x):
        x = x.to(torch.float32) / 255.0
        return self.head(torch.relu(self.conv(x)).flatten(1))


def camera():
    for _ in range(2):
        yield torch.rand(4, 3, 8, 8) * 255


def archive():
    for _ in range(2):
        yield torch.randint(256, (4, 3, 8, 8), dtype=torch.uint8)


model = Net().to(device).eval()
torch_xla.sync()
for source in (camera, archive):
    for pictures in source():
        with torch.no_grad():
            out = model(pictures.to(device))  # <- cause
        torch_xla.sync()  # <- call
        print(source.__name__, out.argmax(-1).tolist())
