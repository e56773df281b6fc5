# cause: size
# subject: constant
# old: 8
# new: 6
# advice: mask
# program: SyncTensorsGraph

# The room of each expert follows from the tokens of the batch. It is a size where torch.arange makes
# the places, not where they are compared on the next line.
import math

import torch
import torch_xla


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.expert = torch.nn.Linear(8, 4), torch.nn.Linear(8, 8)

    def forward(self, x, tokens):
        flat = x.flatten(0, 1)
        share = self.router(flat).softmax(-1)
        chosen = (share >= share.max(-1, keepdim=True).values).float()
        capacity = math.ceil(1.25 * tokens / 4)
        place = chosen.cumsum(0) * chosen - 1
        slots = torch.arange(capacity, device=x.device)  # <- cause
        seats = (place[:, :, None] == slots).float()
        work = self.expert(torch.einsum("tec,tw->ecw", seats, flat))
        return torch.einsum("tec,ecw,te->tw", seats, work, share * chosen).view_as(x)


torch.manual_seed(0)
device = torch_xla.device()
model = Experts().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for tokens in (24, 24, 18):
    optimizer.zero_grad()
    x = torch.randn(2, 12, 8).to(device)
    valid = torch.arange(12, device=device) < 9
    loss = ((model(x, tokens) - x) * valid[:, None]).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
