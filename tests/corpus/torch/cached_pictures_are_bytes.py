# program: SyncTensorsGraph
# cause: dtype
# old: f32[4,3,8,8]
# new: u8[4,3,8,8]
# advice: .to(torch.float32) | .to(dtype)
# reason: a picture that was decoded before comes out of the cache as it was stored, in bytes

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Pictures:
    def __init__(self, batches):
        self.batches, self.cache = batches, {}

    def decode(self, number):
        picture = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(number))
        self.cache[number] = (picture * 255).to(torch.uint8)
        return picture

    def __iter__(self):
        for number in range(self.batches):
            pixels = self.cache[number] if number in self.cache else self.decode(number)
            yield pixels, torch.tensor([number, 1, 2, 0])


def normalised(pixels):
    if pixels.dtype == torch.uint8:
        pixels = pixels.float() / 255
    return (pixels - 0.45) / 0.22


model = nn.Sequential(nn.Conv2d(3, 6, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))
model = model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = Pictures(batches=3)
torch_xla.sync()
for epoch in range(2):
    for pixels, labels in loader:
        pixels, labels = pixels.to(device), labels.to(device)  # <- cause
        optimizer.zero_grad()
        loss = F.cross_entropy(model(normalised(pixels)), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
