# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[...
# advice: before the first step

import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
x = torch.randn(16, 8).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    xm.optimizer_step(optimizer, barrier=True)  # <- cause
