import numpy as np
import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm


class Model(nn.Module):
    def forward(self, x, lengths):
        n = lengths.max().item()  # expect: host-read
        sizes = lengths.tolist()  # expect: host-read
        value = float(x.sum())  # expect: host-read
        y = x.detach().cpu().numpy()  # expect: host-read
        mask = torch.ones(4, 4)
        flag = mask[0, 0].item()
        return x * n * value * flag, sizes, y


def train(model, loader, optimizer):
    total = 0.0
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        xm.mark_step()
        total += loss.item()  # expect: host-read
        print(loss)  # expect: host-read
        if step % 50 == 0:
            print(loss.item())
        xm.add_step_closure(lambda value: print(value.item()), args=(loss,))
    return total


def evaluate(model, x):
    return model(x, x).item()


def noise():
    return np.random.rand(1).item()


def train_step(model, optimizer, x):
    loss = model(x, x)
    loss.backward()
    xm.optimizer_step(optimizer)
    return loss.item()  # expect: host-read


def train_once(model, x):
    loss = model(x, x)
    loss.backward()
    return loss.item()
