# cause: stable

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

device = torch_xla.device()
torch.manual_seed(0)
data = TensorDataset(torch.randn(22, 8), torch.randint(3, (22,)))
loader = DataLoader(data, batch_size=4, shuffle=True, drop_last=True)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.1), torch.nn.Linear(16, 3))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=12,
                                               cycle_momentum=False)
seen = 0
for epoch in range(2):
    model.train()
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        torch_xla.sync()
        seen += len(x)
        if step % 2 == 0:
            print(epoch, step, seen, loss.item())
