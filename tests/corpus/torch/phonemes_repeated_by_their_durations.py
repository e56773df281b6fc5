# program: SyncTensorsGraph
# cause: shape
# reason: a length regulator: the host computes the places of the frames, and moves as many as there are

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
FRAMES = 24


class Speaker(nn.Module):
    def __init__(self, phonemes=20, width=10, bands=8):
        super().__init__()
        self.embed = nn.Embedding(phonemes, width)
        self.encoder = nn.Linear(width, width)
        self.decoder = nn.Linear(width, bands)

    def forward(self, phonemes, durations):
        encoded = torch.relu(self.encoder(self.embed(phonemes)))
        frames = encoded.repeat_interleave(durations, dim=0)  # <- cause
        frames = F.pad(frames, (0, 0, 0, FRAMES - len(frames)))
        return self.decoder(frames)


utterances = [[2, 3, 1, 4, 2, 2], [4, 1, 2, 2, 3, 2], [3, 3, 2, 4, 1, 5]]
model = Speaker().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for durations in utterances:
    phonemes = torch.randint(20, (len(durations),)).to(device)
    spectrum = torch.randn(FRAMES, 8).to(device)
    optimizer.zero_grad()
    loss = F.l1_loss(model(phonemes, torch.tensor(durations).to(device)), spectrum)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(sum(durations), loss.item())
