# program: SyncTensorsGraph
# cause: arguments
# old: f32[]
# new: absent
# advice: tensor
# reason: equal numbers of the host are one argument; the first line's is not recorded again

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8).to(device)
hard = torch.randint(3, (16,)).to(device)
soft = torch.rand(16, 3).softmax(-1).to(device)
torch_xla.sync()
for share in (0.9, 0.7, 0.5):
    optimizer.zero_grad()
    logits = model(x)
    loss = torch.nn.functional.cross_entropy(logits, hard) * share  # <- cause
    loss = loss + torch.nn.functional.cross_entropy(logits, soft) * (1 - share)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
