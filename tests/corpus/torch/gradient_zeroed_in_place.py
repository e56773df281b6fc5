# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# reason: a sum has a different layout than the product alone, and so has what the optimizer makes of it

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
for parameter in model.parameters():
    optimizer.state[parameter] = {"step": torch.zeros((), device=device),
                                  "exp_avg": torch.zeros_like(parameter),
                                  "exp_avg_sq": torch.zeros_like(parameter)}
x = torch.ones(2, 3, 4).to(device)
torch_xla.sync()
for step in range(3):
    optimizer.zero_grad(set_to_none=False)
    model(x).pow(2).mean().backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
