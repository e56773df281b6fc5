# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Average:
    def __init__(self, model):
        self.model = model
        self.weights = [p.detach().clone() for p in model.parameters()]
        self.steps = 0

    @torch.no_grad()
    def update(self):
        self.steps += 1
        decay = min(0.95, (1 + self.steps) / (10 + self.steps))
        for mean, weight in zip(self.weights, self.model.parameters()):
            mean.mul_(decay).add_(weight, alpha=1 - decay)


model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(0.9, (step + 1) / 5))
average = Average(model)
total = torch.zeros(1).to(device)
torch_xla.sync()
for step in range(6):
    x, y = torch.randn(4, 8).to(device), torch.randn(4, 1).to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    schedule.step()
    average.update()
    total += loss.detach()
    torch_xla.sync()
    if step % 3 == 2:
        print(step, total.item() / (step + 1), schedule.get_last_lr())
