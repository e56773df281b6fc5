# program: SyncTensorsGraph
# cause: constant
# pattern: counter
# advice: index_copy_ | tensor of one dimension
# reason: each note is written at a place that Python counts

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
NOTES, LENGTH = 24, 12


class Composer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(NOTES, 16)
        self.cell = torch.nn.Linear(32, 16)
        self.out = torch.nn.Linear(16, NOTES)

    def forward(self, note, state):
        state = torch.tanh(self.cell(torch.cat([self.embed(note), state], dim=1)))
        return self.out(state).argmax(dim=1), state


@torch.no_grad()
def compose(model, first, bars):
    melody = torch.zeros(4, LENGTH, dtype=torch.long).to(device)
    state = torch.zeros(4, 16).to(device)
    note = first.to(device)
    torch_xla.sync()
    for place in range(2, bars):
        note, state = model(note, state)
        melody[:, place] = note  # <- cause
        torch_xla.sync()  # <- call
    return melody.cpu()


model = Composer().to(device).eval()
torch_xla.sync()
print(compose(model, torch.tensor([3, 5, 7, 11]), 8))
