# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[]
# advice: zeros
# reason: the sum begins as Python's 0.0, and is a tensor, an argument, from the second step on

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def train_epoch(batches):
    running = 0.0
    for _ in range(batches):
        x, y = torch.randn(16, 8).to(device), torch.randn(16, 1).to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        running = running + loss.detach()  # <- cause
        torch_xla.sync()  # <- call
    return running.item() / batches


print(train_epoch(4))
