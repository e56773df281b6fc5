# program: SyncTensorsGraph
# cause: first
# reason: the norm of the gradients is read before the optimizer's step, so the step runs in two programs

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Log:
    def __init__(self):
        self.rows = []

    def add(self, **values):
        self.rows.append(values)

    def show(self):
        for row in self.rows:
            print(row)


def gradient_norm(model):
    total = torch.stack([p.grad.pow(2).sum() for p in model.parameters()]).sum()
    return total.sqrt().item()  # <- cut


def train(model, batches, log):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        log.add(norm=gradient_norm(model))
        optimizer.step()
        torch_xla.sync()


def data(count):
    for _ in range(count):
        x = torch.randn(16, 6)
        yield x, torch.sin(x[:, :2])


model = torch.nn.Sequential(torch.nn.Linear(6, 10), torch.nn.ReLU(), torch.nn.Linear(10, 2)).to(device)
torch_xla.sync()
log = Log()
train(model, data(5), log)
log.show()
