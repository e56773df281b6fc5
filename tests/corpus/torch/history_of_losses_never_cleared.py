# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[]
# advice: list lengths
# reason: the mean is over three losses more in each epoch

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.randn(3, 4, 8)
history = []
for epoch in range(3):
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch.to(device)).square().mean()
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
        torch_xla.sync()
    print(epoch, torch.stack(history).mean().item())  # <- cause, read
