# cause: stable
# reason: the cache has its full length from the start, and the place is a tensor of one dimension

import torch
import torch_xla
from torch import nn

LENGTH = 10
device = torch_xla.device()
torch.manual_seed(1)


class Decoder(nn.Module):
    def __init__(self, vocabulary=14, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.project = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, token, cache, place, places):
        query, key, value = self.project(self.embed(token)).chunk(3, -1)
        cache[0].index_copy_(1, place, key)
        cache[1].index_copy_(1, place, value)
        scores = query @ cache[0].transpose(1, 2) / key.shape[-1] ** 0.5
        scores = scores.masked_fill(places > place, -1e9)
        return self.head((torch.softmax(scores, -1) @ cache[1])[:, -1])


class Session:
    def __init__(self, model):
        self.model = model
        self.cache = [torch.zeros(2, LENGTH, 8).to(device) for _ in range(2)]
        self.place = torch.tensor([0]).to(device)
        self.places = torch.arange(LENGTH).to(device)
        torch_xla.sync()

    @torch.no_grad()
    def decode(self, token):
        token = self.model(token, self.cache, self.place, self.places).argmax(-1, keepdim=True)
        self.place.add_(1)
        torch_xla.sync()
        return token


model = Decoder().to(device).eval()
session = Session(model)
token = torch.tensor([[3], [4]]).to(device)
torch_xla.sync()
answers = []
for _ in range(7):
    token = session.decode(token)
    answers.append(token.cpu())
print(torch.cat(answers, 1))
