# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
dropout = torch.nn.Dropout(0.05)
model = torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3, padding=1), torch.nn.ReLU(), dropout,
                            torch.nn.Flatten(), torch.nn.Linear(32, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-3)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
torch_xla.sync()
for epoch in range(4):
    dropout.p = 0.05 + 0.1 * epoch
    for _ in range(2):
        x, y = torch.randn(6, 2, 8).to(device), torch.randint(2, (6,)).to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    schedule.step()
    print(epoch, loss.item())
