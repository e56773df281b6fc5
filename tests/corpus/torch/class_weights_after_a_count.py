# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[3]
# advice: ones
# reason: the weights of the classes are known when the first epoch has counted them

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(6, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
labels = torch.tensor([0, 0, 0, 1, 2, 1, 0, 2, 0, 0, 1, 2])
inputs = torch.randn(12, 6)
torch_xla.sync()
criterion = torch.nn.CrossEntropyLoss()
for epoch in range(2):
    counts = torch.zeros(3)
    for start in range(0, 12, 4):
        y = labels[start:start + 4]
        counts += torch.bincount(y, minlength=3)
        loss = criterion(model(inputs[start:start + 4].to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    weights = (counts.sum() / counts).to(device)  # <- cause
    criterion = torch.nn.CrossEntropyLoss(weight=weights)
