# program: SyncTensorsGraph
# cause: structure
# old: 3 times
# new: 2 times
# reason: a block that is left out leaves its weights out, and the optimizer skips them

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x, dropped):
        h = x
        for number, block in enumerate(self.blocks):
            if number in dropped:
                continue
            h = h + torch.tanh(block(h))  # <- cause
        return self.head(h)


model = Tower().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 8).to(device)
torch_xla.sync()
for dropped in ((), (), (1,)):
    optimizer.zero_grad()
    loss = model(x, dropped).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
