# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1)).to(device)
averages = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
inputs, targets = torch.randn(24, 8), torch.randn(24, 1)
held_out = torch.randn(8, 8).to(device)
torch_xla.sync()


def train_epoch():
    model.train()
    for start in range(0, 24, 8):
        optimizer.zero_grad()
        for half in (start, start + 4):
            x, y = inputs[half:half + 4].to(device), targets[half:half + 4].to(device)
            loss = torch.nn.functional.mse_loss(model(x), y) / 2
            loss.backward()
        optimizer.step()
        with torch.no_grad():
            for average, parameter in zip(averages, model.parameters()):
                average.lerp_(parameter, 0.1)
        torch_xla.sync()


@torch.no_grad()
def evaluate():
    model.eval()
    result = model(held_out).mean()
    torch_xla.sync()
    return result.item()


for epoch in range(3):
    train_epoch()
    print(epoch, evaluate())
