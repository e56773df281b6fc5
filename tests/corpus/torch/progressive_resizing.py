# program: SyncTensorsGraph
# cause: shape
# old: f32[4,3,16,16]
# new: f32[4,3,24,24]
# advice: Pad

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, images):
        h = F.relu(self.norm(self.conv(images)))
        return self.head(F.adaptive_avg_pool2d(h, 1).flatten(1))


model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.rand(4, 3, 32, 32)
labels = torch.randint(5, (4,)).to(device)
torch_xla.sync()
for size in (16, 16, 24):
    small = F.interpolate(images, size=(size, size), mode="bilinear", align_corners=False)
    batch = small.to(device)  # <- cause
    optimizer.zero_grad()
    loss = F.cross_entropy(model(batch), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
