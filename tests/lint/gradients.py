import torch
import torch_xla


def accumulate(model, optimizer, loader, every):
    for i, x in enumerate(loader):
        model(x).sum().backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()  # expect: zero-grad-none
        torch_xla.sync()


def accumulate_with_zeros(model, optimizer, loader, every):
    for i, x in enumerate(loader):
        model(x).sum().backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        torch_xla.sync()


def train(model, optimizer, loader):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        torch_xla.sync()
