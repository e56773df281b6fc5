# cause: stable

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Embedding(32, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 32))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = torch.zeros((), device=device)
torch_xla.sync()
for lengths in ((3, 5, 8, 2), (8, 8, 8, 8), (1, 2, 3, 4), (7, 6, 5, 4)):
    ids = torch.randint(1, 32, (4, 9))
    for row, length in enumerate(lengths):
        ids[row, length + 1:] = 0
    ids = ids.to(device)
    targets = torch.where(ids[:, 1:] == 0, -100, ids[:, 1:])
    optimizer.zero_grad()
    with torch.autocast("xla", dtype=torch.bfloat16):
        logits = model(ids[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten(),
                                             ignore_index=-100)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        total += loss
    torch_xla.sync()
print(total.item())
