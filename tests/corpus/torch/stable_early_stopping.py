# cause: stable

import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(),
                            torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train, held_out = (torch.randn(16, 6), torch.randn(16, 1)), (torch.randn(8, 6), torch.randn(8, 1))
xm.mark_step()


def fit():
    model.train()
    for rows, targets in zip(train[0].split(8), train[1].split(8)):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(rows.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        xm.mark_step()


def check():
    model.eval()
    with torch.no_grad():
        loss = torch.nn.functional.mse_loss(model(held_out[0].to(device)), held_out[1].to(device))
    xm.mark_step()
    return loss.item()


best, kept, patience = float("inf"), None, 2
for epoch in range(6):
    fit()
    now = check()
    if now < best:
        best, patience = now, 2
        kept = {name: value.cpu() for name, value in model.state_dict().items()}
    else:
        patience -= 1
    if not patience:
        break
print(epoch, best)
