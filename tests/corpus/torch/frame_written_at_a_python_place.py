# program: SyncTensorsGraph
# cause: constant
# pattern: counter

import torch
import torch_xla
from torch import nn

FRAMES = 9
device = torch_xla.device()
torch.manual_seed(2)


class Buffer:
    """The last features of a stream, on the device."""

    def __init__(self, frames, width):
        self.rows = torch.zeros(frames, width).to(device)
        self.place = 1

    def write(self, row):
        self.rows[self.place] = row  # <- cause
        self.place = (self.place + 1) % FRAMES


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
        self.decide = nn.Linear(12, 2)

    def forward(self, frame, buffer):
        buffer.write(self.features(frame))
        return self.decide(buffer.rows.mean(0))


@torch.no_grad()
def listen(model, source):
    buffer = Buffer(FRAMES, 12)
    torch_xla.sync()
    for frame in source:
        decision = model(frame.to(device), buffer)
        torch_xla.sync()  # <- call
        yield decision.argmax().item()


model = Stream().to(device)
torch_xla.sync()
print(list(listen(model, torch.randn(6, 6))))
