# program: SyncTensorsGraph
# cause: structure
# new: nothing
# reason: the evaluation leaves the model in eval mode, so the training goes on without dropout

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 16)
        self.drop = torch.nn.Dropout(0.2)
        self.head = torch.nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.body(x))
        h = self.drop(h)  # <- cause
        return self.head(h)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(-1) == y).float().mean()
    torch_xla.sync()
    return right.item()


def train(model, optimizer, steps):
    for _ in range(steps):
        x, y = torch.randn(8, 8).to(device), torch.randint(3, (8,)).to(device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        torch_xla.sync()  # <- call


model = Classifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
held_out = torch.randn(8, 8).to(device), torch.randint(3, (8,)).to(device)
model.train()
train(model, optimizer, 3)
print(evaluate(model, *held_out))
train(model, optimizer, 3)
