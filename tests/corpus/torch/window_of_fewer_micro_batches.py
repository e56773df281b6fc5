# program: SyncTensorsGraph
# cause: arguments
# old: f32[4,8]
# new: absent
# advice: same
# reason: the loader's last window has two micro-batches instead of three, and so two inputs

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
micro_batches = list(torch.randn(8, 4, 8))
torch_xla.sync()
for start in range(0, len(micro_batches), 3):
    optimizer.zero_grad()
    for batch in micro_batches[start:start + 3]:
        x = batch.to(device)  # <- cause
        loss = model(x).pow(2).mean() / 3
        loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
