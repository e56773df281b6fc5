# program: SyncTensorsGraph
# cause: shape
# old: f32[8,6]
# new: f32[3,6]
# advice: drop_last
# reason: the training drops its last batch, the evaluation does not

import torch
import torch_xla
from data import loaders
from loop import evaluate, train_epoch

device = torch_xla.device()
torch.manual_seed(0)
training, validation = loaders()
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Linear(12, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    train_epoch(model, optimizer, training, device)
    print(epoch, evaluate(model, validation, device))
