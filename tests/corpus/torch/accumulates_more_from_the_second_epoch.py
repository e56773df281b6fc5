# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[4,6]
# and
# cause: constant
# subject: divide
# old: 1
# new: an argument
# reason: a larger batch from the second epoch on, of two micro-batches in one step; and a loss over 1 is a constant

import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.Sigmoid(), torch.nn.Linear(3, 6)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
data = torch.randn(16, 6).split(4)
xm.mark_step()
for epoch in range(2):
    every = 1 if epoch == 0 else 2
    for number, rows in enumerate(data):
        x = rows.to(device)  # <- cause
        loss = (model(x) - x).square().mean() / every  # <- cause 2
        loss.backward()
        if (number + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
            xm.mark_step()  # <- call, call 2
