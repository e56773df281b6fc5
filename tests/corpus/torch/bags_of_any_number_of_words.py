# program: SyncTensorsGraph
# cause: shape
# old: i64[13]
# new: i64[10]
# advice: Pad
# reason: the words of all bags stand one after another

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
embed = torch.nn.Embedding(40, 6).to(device)
out = torch.nn.Linear(6, 2).to(device)
optimizer = torch.optim.SGD([*embed.parameters(), *out.parameters()], lr=0.3)
labels = torch.tensor([0, 1, 1, 0]).to(device)
torch_xla.sync()


def flatten(bags):
    words = torch.tensor([word for bag in bags for word in bag])
    owners = torch.tensor([number for number, bag in enumerate(bags) for _ in bag])
    return words, owners


for lengths in ((4, 3, 5, 1), (2, 5, 2, 4), (1, 1, 5, 3)):
    words, owners = flatten([torch.randint(40, (n,)).tolist() for n in lengths])
    words, owners = words.to(device), owners.to(device)  # <- cause
    summed = torch.zeros(4, 6, device=device).index_add(0, owners, embed(words))
    loss = torch.nn.functional.cross_entropy(out(summed), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
