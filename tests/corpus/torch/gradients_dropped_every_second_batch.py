# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate
# advice: set_to_none=False | zeros_like
# reason: the gradients of two batches are added up, and the optimizer takes a smaller step after each

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


def network():
    return torch.nn.Sequential(torch.nn.Linear(6, 14), torch.nn.Softplus(), torch.nn.Linear(14, 1))


class Trainer:
    def __init__(self, model, every):
        self.model = model.to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02)
        self.every = every
        self.count = 0

    def loss(self, x, y):
        return torch.nn.functional.smooth_l1_loss(self.model(x), y)

    def step(self, x, y):
        if self.count % self.every == 0:
            self.optimizer.zero_grad()
        loss = self.loss(x, y)
        loss.backward()  # <- cause
        self.optimizer.step()
        self.count += 1
        return loss


def batches(count):
    for _ in range(count):
        x = torch.randn(8, 6)
        yield x, x.sum(dim=1, keepdim=True)


trainer = Trainer(network(), every=2)
torch_xla.sync()
for x, y in batches(6):
    loss = trainer.step(x.to(device), y.to(device))
    torch_xla.sync()  # <- call
print(loss.item())
