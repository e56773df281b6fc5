"""Functions compiled by torch.compile with the backend openxla; on the CPU they run as they are."""

import torch

from common import DEVICE, STEPS, WHERE, data, made, mlp, numbers, sync
from trainings import CAPTURABLE, Block, Pictures

functional = torch.nn.functional


def compiled(function):
    if WHERE == "cpu":
        return function
    return torch.compile(function, backend="openxla")


def inference():
    """A second batch, and one of another length."""
    model = made(mlp).eval()
    run = compiled(model)
    with torch.no_grad():
        return numbers(*(run(data(seed, rows, 8)) for seed, rows in ((1, 4), (2, 4), (3, 6))))


def inference_of_a_gpt():
    model = made(Block).eval()
    run = compiled(model)
    ids = torch.arange(12).reshape(2, 6).to(DEVICE)
    with torch.no_grad():
        return numbers(run(ids), run(ids + 1))


def inference_of_pictures():
    model = made(Pictures).eval()
    run = compiled(model)
    with torch.no_grad():
        return numbers(run(data(6, 2, 3, 10, 10)))


def training():
    """The forward and the backward pass are programs of their own; the optimizer is recorded."""
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(1, 32, 8), data(2, 32, 4)
    loss_of = compiled(lambda: functional.mse_loss(model(x), y))
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        sync()
        losses.append(loss.item())
    return losses


def training_with_its_optimizer():
    model = made(mlp)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=CAPTURABLE)
    x, y = data(1, 32, 8), data(2, 32, 4)

    def whole_step():
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss
    run = compiled(whole_step)
    losses = []
    for _ in range(STEPS):
        loss = run()
        sync()
        losses.append(loss.item())
    return losses


def broken_in_two():
    """Reading a number on the host breaks the graph; each branch is a program."""
    def branch(x):
        y = x * 2
        if y.sum().item() > 0:
            return y.relu()
        return y - 1
    run = compiled(branch)
    return numbers(run(data(1, 4, 4)), run(-data(1, 4, 4)), run(data(2, 4, 4)))


def writes_in_place():
    """The argument is written to, and a view of it is given back."""
    def write(x, y):
        x.add_(y)
        x[0] = 3
        return x[1:] * y[1:]
    run = compiled(write)
    x, y = data(3, 4, 4), data(4, 4, 4)
    return numbers(run(x, y), run(x, y), x)


def what_xla_does_not_know():
    """An operation that runs on the CPU in the middle of a graph."""
    def mixed(x):
        return torch.linalg.eigvalsh(x @ x.T).sum() + x.sum()
    return numbers(compiled(mixed)(data(5, 4, 4)))


WORKLOADS = [inference, inference_of_a_gpt, inference_of_pictures, training,
             training_with_its_optimizer, broken_in_two, writes_in_place, what_xla_does_not_know]
