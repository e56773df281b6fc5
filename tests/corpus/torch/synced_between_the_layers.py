# cause: size
# subject: constant
# old: 8
# new: 6
# program: SyncTensorsGraph

# The rank of the layer changes once. The sync after it, meant to save memory, splits each step, and
# what comes after it is compiled again too.
import torch
import torch_xla


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 4)

    def forward(self, x, rank):
        kept = torch.arange(rank, device=x.device)  # <- cause
        x = torch.tanh(self.first(x)).index_select(1, kept)
        torch_xla.sync()  # <- call, cut 2
        return self.second(torch.nn.functional.pad(x, (0, 16 - rank)))


torch.manual_seed(0)
device = torch_xla.device()
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def step(rank):
    model(torch.randn(8, 16).to(device), rank).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()


for number in range(6):
    step(8 if number < 4 else 6)
