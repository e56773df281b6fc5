# program: SyncTensorsGraph
# cause: donation
# old: kept
# new: donated
# reason: a parameter without dimensions is moved as a number, which is not donated in the first step

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Matcher(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = torch.nn.Linear(6, 4), torch.nn.Linear(5, 4)
        self.temperature = torch.nn.Parameter(torch.tensor(2.5))

    def forward(self, a, b):
        a = torch.nn.functional.normalize(self.left(a), dim=1)
        b = torch.nn.functional.normalize(self.right(b), dim=1)
        return a @ b.T * self.temperature  # <- cause


model = Matcher().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
labels = torch.arange(8).to(device)
torch_xla.sync()
for step in range(4):
    a, b = torch.randn(8, 6).to(device), torch.randn(8, 5).to(device)
    loss = torch.nn.functional.cross_entropy(model(a, b), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
