# program: step
# cause: none

import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, capturable=True)
x = torch.ones(8, 4).to(device)
for parameter in model.parameters():
    optimizer.state[parameter] = {
        "step": torch.zeros((), device=device),
        "exp_avg": torch.zeros_like(parameter),
        "exp_avg_sq": torch.zeros_like(parameter),
    }
torch_xla.sync()


@torch_xla.compile
def step():
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()


for _ in range(4):
    step()
