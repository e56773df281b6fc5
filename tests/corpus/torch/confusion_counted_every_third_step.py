# program: SyncTensorsGraph
# cause: arguments
# old: absent
# new: f32[3,3]
# reason: the table is an input of those steps only that count into it

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Confusion:
    def __init__(self, classes):
        self.classes = classes
        self.table = torch.zeros(classes, classes, device=device)

    @torch.no_grad()
    def update(self, logits, labels):
        guessed = nn.functional.one_hot(logits.argmax(-1), self.classes).float()
        actual = nn.functional.one_hot(labels, self.classes).float()
        self.table += actual.T @ guessed  # <- cause

    def accuracy(self):
        table = self.table.cpu()
        return (table.diagonal().sum() / table.sum()).item()


model = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
confusion = Confusion(3)
torch_xla.sync()
for step in range(6):
    x, y = torch.randn(10, 9).to(device), torch.randint(3, (10,)).to(device)
    optimizer.zero_grad()
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    optimizer.step()
    if step % 3 == 2:
        confusion.update(logits, y)
    torch_xla.sync()  # <- call
print(confusion.accuracy())
