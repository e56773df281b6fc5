# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Recommender(nn.Module):
    def __init__(self, users=12, films=20, width=8):
        super().__init__()
        self.users, self.films = nn.Embedding(users, width), nn.Embedding(films, width)
        self.bias = nn.Parameter(torch.zeros(films))

    def forward(self, user, film):
        return (self.users(user) * self.films(film)).sum(1) + self.bias[film]


def forget_gradients(model):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()


@torch.no_grad()
def descend(model, rate):
    for parameter in model.parameters():
        parameter.sub_(rate * parameter.grad)


def ratings(count):
    return torch.randint(12, (count,)), torch.randint(20, (count,)), torch.rand(count) * 4 + 1


def main():
    model = Recommender().to(device)
    torch_xla.sync()
    for step in range(5):
        user, film, rating = (column.to(device) for column in ratings(32))
        forget_gradients(model)
        loss = (model(user, film) - rating).pow(2).mean()
        loss.backward()  # <- cause
        descend(model, rate=0.05)
        torch_xla.sync()  # <- call
        print(step, loss.item())


main()
