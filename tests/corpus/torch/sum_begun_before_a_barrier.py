# program: SyncTensorsGraph
# cause: structure
# old: f32[]
# new: absent
# advice: every step, or in none
# reason: the zeros of a cycle's sum are a result of the first program, and of no other

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()
encoder, head = torch.nn.Linear(6, 6).to(device), torch.nn.Linear(6, 2).to(device)
torch_xla.sync()


def loss_of(x):
    hidden = torch.relu(encoder(x))
    torch_xla.sync()  # <- call, cut
    return head(hidden).pow(2).mean()


for cycle in range(2):
    total = torch.zeros((), device=device)  # <- cause
    for _ in range(2):
        total = total + loss_of(torch.randn(12, 6).to(device)).detach()
        torch_xla.sync()
