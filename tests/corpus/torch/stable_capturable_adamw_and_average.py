# cause: stable
# reason: the state exists before the first step, and the average of the weights is computed on the host

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(2)


def make_optimizer(model, rate):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, capturable=True)
    for parameter in model.parameters():
        optimizer.state[parameter] = {"step": torch.zeros((), device=device),
                                      "exp_avg": torch.zeros_like(parameter),
                                      "exp_avg_sq": torch.zeros_like(parameter)}
    return optimizer


class Average:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.values = {name: value.cpu().clone() for name, value in model.state_dict().items()}

    def update(self, model):
        for name, value in model.state_dict().items():
            self.values[name].mul_(self.decay).add_(value.cpu(), alpha=1 - self.decay)


model = nn.Sequential(nn.Linear(6, 14), nn.SiLU(), nn.Linear(14, 1)).to(device)
optimizer = make_optimizer(model, 1e-3)
torch_xla.sync()
average = Average(model)
for step in range(6):
    x = torch.randn(8, 6)
    loss = (model(x.to(device)) - x.prod(1, keepdim=True).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    if step % 2:
        average.update(model)
model.load_state_dict(average.values)
with torch.no_grad():
    answer = model(torch.ones(4, 6).to(device))
torch_xla.sync()
print(loss.item(), answer.cpu().mean())
