# program: SyncTensorsGraph
# cause: host_read
# old: 3
# new: 4
# reason: one_hot reads the largest label where it is not told how many classes there are

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
x = torch.randn(6, 4).to(device)
table = torch.randn(4, 4).to(device)
batches = ([0, 1, 2, 2, 1, 0], [0, 2, 1, 2, 0, 1], [0, 3, 1, 2, 0, 1])
torch_xla.sync()
for batch in batches:
    labels = torch.tensor(batch).to(device)
    onehot = F.one_hot(labels).float()  # <- cause, cut
    means = onehot.T @ x / onehot.sum(0).unsqueeze(1)
    loss = means.square().sum()
    torch_xla.sync()  # <- call
