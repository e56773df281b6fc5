# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
series = torch.sin(torch.arange(40) * 0.4)
windows = series.unfold(0, 7, 1)
torch_xla.sync()
for rows in windows[:32].split(8):
    rows = rows.to(device)
    with torch_xla.step():
        optimizer.zero_grad()
        loss = (model(rows[:, :6]) - rows[:, 6:]).abs().mean()
        loss.backward()
        optimizer.step()
window = series[-6:][None].to(device)
following = []
with torch.no_grad():
    for _ in range(5):
        value = model(window)
        window = torch.cat([window[:, 1:], value], dim=1)
        torch_xla.sync()
        following.append(value.item())
print(following)
