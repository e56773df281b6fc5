# program: SyncTensorsGraph
# cause: size
# old: 5
# new: 8
# reason: random numbers are drawn on the device, as many as the host says

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
table = torch.nn.Embedding(64, 8).to(device)
optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
anchors = torch.randint(64, (16,)).to(device)
positives = torch.randint(64, (16,)).to(device)
torch_xla.sync()
for count in (5, 5, 8):
    optimizer.zero_grad()
    negatives = torch.randint(0, 64, (16, count), device=device)  # <- cause
    anchor = table(anchors)
    near = (anchor * table(positives)).sum(-1, keepdim=True)
    far = torch.einsum("bd,bnd->bn", anchor, table(negatives))
    loss = torch.nn.functional.softplus(far - near).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
