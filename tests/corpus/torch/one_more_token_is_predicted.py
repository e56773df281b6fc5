# cause: structure
# old: 2 times
# new: 4 times
# program: SyncTensorsGraph

# A second head predicts one word further: more rounds of a loop, each of which shifts its words by
# another number. None of these numbers changed.
import torch
import torch.nn.functional as F
import torch_xla


class Ahead(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.join = torch.nn.Linear(16, 8, bias=False)

    def forward(self, x, further):
        return x + F.gelu(self.join(torch.cat([x, further], -1)))  # <- cause


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(16, 8), torch.nn.Linear(8, 16, bias=False)
        self.ahead = torch.nn.ModuleList(Ahead() for _ in range(2))

    def loss(self, words, depth):
        def cross_entropy(x, shift):
            targets = words.roll(-shift, 1)[:, 1:]
            return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())

        x = self.embed(words[:, :-1])
        total = cross_entropy(x, 0)
        for k in range(depth):
            x = self.ahead[k](x, self.embed(words.roll(-k - 1, 1)[:, :-1]))
            total = total + cross_entropy(x, k + 1)
        return total


torch.manual_seed(0)
device = torch_xla.device()
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for depth in (1, 1, 2):
    optimizer.zero_grad()
    for _ in range(2):
        model.loss(torch.randint(16, (4, 13)).to(device), depth).backward()
    optimizer.step()
    torch_xla.sync()  # <- call
