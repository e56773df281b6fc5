# program: SyncTensorsGraph
# cause: donation
# old: kept
# new: donated
# reason: the warm-up makes new centres, the training updates them in place

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
encoder = torch.nn.Linear(6, 4).to(device)
centres = torch.randn(5, 4).to(device)
torch_xla.sync()
for step in range(4):
    with torch.no_grad():
        z = encoder(torch.randn(8, 6).to(device))
        near = torch.nn.functional.one_hot((z[:, None] - centres).square().sum(-1).argmin(1), 5).float()
        if step < 2:
            centres = torch.add(centres, near.T @ z, alpha=0.25)
        else:
            centres.add_(near.T @ z, alpha=0.25)  # <- cause
    torch_xla.sync()  # <- call
