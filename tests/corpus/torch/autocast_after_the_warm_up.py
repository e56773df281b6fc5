# program: SyncTensorsGraph
# cause: structure
# reason: autocast is on in only some of the steps: one switch, one cause, at the first operation that it converts

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class Classifier(nn.Module):
    def __init__(self, inputs=12, hidden=24, classes=4):
        super().__init__()
        self.stem = nn.Linear(inputs, hidden)
        self.body = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        x = self.stem(x).relu()  # <- cause
        x = x + self.body(x).relu()
        return self.head(x)


class Trainer:
    def __init__(self, model, device, full_precision_steps):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.full_precision_steps = full_precision_steps
        self.steps = 0
        torch_xla.sync()

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        mixed = self.steps >= self.full_precision_steps
        self.optimizer.zero_grad()
        with torch.autocast("xla", dtype=torch.bfloat16, enabled=mixed):
            loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        torch_xla.sync()  # <- call
        self.steps += 1
        return loss


torch.manual_seed(0)
trainer = Trainer(Classifier(), torch_xla.device(), full_precision_steps=3)
for _ in range(5):
    loss = trainer.step(torch.randn(16, 12), torch.randint(4, (16,)))
print(loss.item())
