# program: SyncTensorsGraph
# cause: structure
# old: 3 times
# new: 2 times
# reason: the last window before the sync has two steps instead of three

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

FLUSH_EVERY = 3


class Ranker(nn.Module):
    def __init__(self, features=10, width=16):
        super().__init__()
        self.first = nn.Linear(features, width)
        self.score = nn.Linear(width, 1)

    def forward(self, documents):
        return self.score(self.first(documents).relu()).squeeze(-1)


class Queries:
    def __init__(self, count, documents=6):
        self.count, self.documents = count, documents

    def __len__(self):
        return self.count

    def __iter__(self):
        for _ in range(self.count):
            yield torch.randn(4, self.documents, 10), torch.rand(4, self.documents)


def list_loss(scores, relevance):
    return F.kl_div(scores.log_softmax(1), relevance.softmax(1), reduction="batchmean")


def train(model, queries, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for number, (documents, relevance) in enumerate(queries, 1):
        documents, relevance = documents.to(device), relevance.to(device)
        loss = list_loss(model(documents), relevance)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % FLUSH_EVERY == 0 or number == len(queries):
            torch_xla.sync()  # <- call
    return loss.item()


torch.manual_seed(0)
device = torch_xla.device()
model = Ranker().to(device)
torch_xla.sync()
print(train(model, Queries(8), device))
