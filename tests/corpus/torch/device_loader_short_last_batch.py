# program: SyncTensorsGraph
# cause: shape
# old: f32[8,4]
# new: f32[5,4]
# advice: drop_last
# reason: a thread of the loader moves the data, so that the line is the one that first uses it

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset
from torch_xla.distributed.parallel_loader import MpDeviceLoader

device = torch_xla.device()
torch.manual_seed(0)
data = TensorDataset(torch.randn(21, 4), torch.randn(21, 1))
loader = MpDeviceLoader(DataLoader(data, batch_size=8), device)
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for x, y in loader:  # <- call
    optimizer.zero_grad()
    prediction = model(x)  # <- cause
    torch.nn.functional.mse_loss(prediction, y).backward()
    optimizer.step()
