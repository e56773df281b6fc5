# program: SyncTensorsGraph
# cause: dtype
# old: f32[...
# new: bf16[...
# reason: the model goes on in bfloat16 after its warm-up

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Sentiment(nn.Module):
    def __init__(self, words=40, width=12):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)

    def forward(self, ids):
        x = self.embed(ids).mean(1)
        return self.head(torch.relu(self.hidden(x)))


def train(model, steps, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        ids, labels = torch.randint(40, (8, 10)).to(device), torch.randint(2, (8,)).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


model = Sentiment().to(device)
torch_xla.sync()
print(train(model, 3, 0.1))
model.to(torch.bfloat16)  # <- cause
torch_xla.sync()
print(train(model, 3, 0.05))
