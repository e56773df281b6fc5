# program: SyncTensorsGraph
# cause: shape
# advice: size
# reason: the second task brings two classes more, for which the head is made larger

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Network(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x))

    def extend(self, more):
        known = self.head.out_features
        head = nn.Linear(16, known + more)
        with torch.no_grad():
            head.weight[:known] = self.head.weight.cpu()
            head.bias[:known] = self.head.bias.cpu()
        self.head = head.to(device)  # <- cause


def learn(model, classes, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = torch.randn(12, 8).to(device), torch.randint(classes, (12,)).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


model = Network(3).to(device)
print("first task", learn(model, 3, 3))
model.extend(2)
print("second task", learn(model, 5, 3))
