# program: SyncTensorsGraph
# cause: donation
# old: donated
# new: kept
# advice: !assign
# reason: nothing replaced the tensors of the trained model: the helper gets another model, and no optimizer

import torch
import torch_xla

torch.manual_seed(0)
device = torch_xla.device()


def run(model, optimizer, steps, squares):
    for step in range(steps):
        x, y = torch.randn(4, 6).to(device), torch.randint(3, (4,)).to(device)
        torch.nn.functional.cross_entropy(model(x), y).backward()
        if optimizer:
            optimizer.step()
            optimizer.zero_grad()
        else:
            for square, parameter in zip(squares, model.parameters()):
                square.add_(parameter.grad ** 2)
                parameter.grad = None
        torch_xla.sync()


def build():
    return torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)).to(device)


trained = build()
optimizer = torch.optim.SGD(trained.parameters(), lr=0.05)
torch_xla.sync()
run(trained, optimizer, 5, None)
other = build()
run(other, None, 6, [torch.zeros_like(parameter) for parameter in other.parameters()])
