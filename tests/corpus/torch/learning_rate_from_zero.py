# program: SyncTensorsGraph
# cause: constant
# subject: multiply
# old: 1
# new: an argument
# reason: numbers of the host are arguments, but 0 and 1 are constants: here 1 - rate * weight_decay

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.1)
x = torch.ones(8, 4).to(device)
for parameter in model.parameters():
    optimizer.state[parameter] = {
        "step": torch.zeros(()),
        "exp_avg": torch.zeros_like(parameter),
        "exp_avg_sq": torch.zeros_like(parameter),
    }
torch_xla.sync()
for step in range(2):
    optimizer.param_groups[0]["lr"] = 0.1 * step
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
