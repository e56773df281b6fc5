"""What the workloads share: where they run, data that is the same everywhere, and a training step.

WHERE is the first argument of the process: `xla`, `spmd` or `cpu`.
"""

import sys

import torch

WHERE = sys.argv[1]
DEVICE = torch.device("cpu")
if WHERE != "cpu":  # before autograd has run: its engine knows only the devices of that moment
    import torch_xla
    import torch_xla.runtime
    if WHERE == "spmd":
        torch_xla.runtime.use_spmd()
    DEVICE = torch_xla.device()

STEPS = 5


def sync(wait=False):
    if WHERE != "cpu":
        torch_xla.sync(wait=wait)


def data(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def whole(seed, limit, *shape):
    return torch.randint(limit, shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def numbers(*tensors):
    """All values of the tensors, computed in one program."""
    flat = torch.cat([tensor.detach().flatten().to(torch.float32) for tensor in tensors])
    sync()
    return flat.tolist()


def made(build):
    """A module with the same numbers everywhere: they are drawn on the CPU."""
    torch.manual_seed(0)
    return build().to(DEVICE)


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    sync()
    return loss.item()


def train(model, optimizer, steps=STEPS):
    x, y = data(1, 32, 8), data(2, 32, 4)
    return [step(model, optimizer, x, y) for _ in range(steps)]
