# cause: structure
# program: SyncTensorsGraph...
# new: f32[8,6]
# reason: the copy of the weights records no operation, so the line is that of what computes them
import torch
import torch_xla
from torch.optim.swa_utils import AveragedModel

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).to(device)
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(4, 6).to(device), torch.randn(4, 2).to(device)
torch_xla.sync()

for step in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()  # <- cause
    if step == 3:
        average.update_parameters(model)
    torch_xla.sync()  # <- call
