# program: SyncTensorsGraph
# cause: size
# subject: iota
# old: 7
# new: 5
# reason: the second program of each step differs only because it takes what the first one made

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()
encoder, head = torch.nn.Linear(6, 6).to(device), torch.nn.Linear(6, 2).to(device)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
torch_xla.sync()
for kept in (4, 6, 7, 5):
    x = torch.randn(16, 6).to(device)
    chosen = torch.eye(kept, 16, device=device)  # <- cause
    hidden = torch.relu(encoder(chosen @ x))
    torch_xla.sync()  # <- call
    loss = head(hidden).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
