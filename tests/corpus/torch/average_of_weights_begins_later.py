# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[...
# reason: the averages are not part of a step until the warm-up is over

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 4).to(device)
averages = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8).to(device)
torch_xla.sync()


def update_averages(decay):
    with torch.no_grad():
        for average, parameter in zip(averages, model.parameters()):
            average.mul_(decay).add_(parameter, alpha=1 - decay)  # <- cause


for step in range(5):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    if step >= 3:
        update_averages(0.9)
    torch_xla.sync()  # <- call
