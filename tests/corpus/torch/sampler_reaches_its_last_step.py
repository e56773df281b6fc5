# program: SyncTensorsGraph
# cause: constant
# old: 1
# new: 0
# reason: numbers of the host are arguments, but 0 and 1 are constants: the last two steps of the sampler

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
STEPS = 4


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.time = torch.nn.Embedding(STEPS, 8)
        self.inner = torch.nn.Linear(2, 8)
        self.outer = torch.nn.Linear(8, 2)

    def forward(self, x, t):
        return self.outer(torch.tanh(self.inner(x) + self.time(t)))


model = Denoiser().to(device).eval()
x = torch.randn(6, 2).to(device)
torch_xla.sync()
with torch.no_grad():
    for step in reversed(range(STEPS)):
        t = torch.full((6,), step, dtype=torch.long, device=device)  # <- cause
        x = x - 0.25 * model(x, t)
        torch_xla.sync()  # <- call
print(x.cpu().mean())
