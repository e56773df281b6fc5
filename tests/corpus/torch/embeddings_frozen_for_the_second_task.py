# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 5 tensors
# new: updates 4 tensors

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, words=40, width=12, classes=3):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.hidden(self.words(ids).mean(1)).relu())


class Task:
    def __init__(self, name, seed, freeze=()):
        self.name, self.freeze = name, freeze
        self.random = torch.Generator().manual_seed(seed)

    def batches(self, count):
        for _ in range(count):
            yield (torch.randint(40, (8, 10), generator=self.random),
                   torch.randint(3, (8,), generator=self.random))


def learn(model, task, optimizer, device):
    for name in task.freeze:
        model.get_submodule(name).requires_grad_(False)
    for ids, labels in task.batches(3):
        ids, labels = ids.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    print(task.name, loss.item())


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = BagOfWords().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch_xla.sync()
    for task in (Task("topics", 1), Task("sentiment", 2, freeze=["words"])):
        learn(model, task, optimizer, device)


main()
