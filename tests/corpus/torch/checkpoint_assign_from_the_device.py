# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 4 tensors
# new: updates none
# reason: the optimizer has the tensors that were there before; nothing tells where the new ones came from

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
for group in optimizer.param_groups:
    for value in group["params"]:
        optimizer.state[value] = {"step": torch.zeros(()), "exp_avg": torch.zeros_like(value),
                                  "exp_avg_sq": torch.zeros_like(value)}
x = torch.ones(16, 8).to(device)
kept = {name: value.detach().clone() for name, value in model.state_dict().items()}
torch_xla.sync()
for step in range(4):
    if step == 3:
        model.load_state_dict(kept, assign=True)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
