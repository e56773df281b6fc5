"""Replica threads of PyTorch/XLA, one a device. Each prints a line of JSON: its ordinal and its
numbers, as hexadecimal floats. To be started by `keel run`, which registers the device.

    replicas.py launch   sums over all replicas, and a data-parallel training, by torch_xla.launch
    replicas.py cpu      what they are to be: the training in one thread with the whole batch, on
                         the CPU without PyTorch/XLA
    replicas.py lame     two of the replicas run a different program than the others
"""

import json
import os
import sys
import threading

import torch

STEPS, REPLICAS, BATCH = 5, 4, 32
lock = threading.Lock()


def say(ordinal, **numbers):
    line = json.dumps({"ordinal": ordinal} | {
        name: [float(value).hex() for value in values] for name, values in numbers.items()})
    os.write(1, (line + "\n").encode())


def data(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def model():
    """With the same numbers in each thread, though they draw from one generator."""
    with lock:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def train(device, part, step, mean):
    """The loss of each step; `part` is what this replica has of a batch."""
    net = model().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for index in range(STEPS):
        x, y = (data(seed + index, BATCH, size)[part].to(device) for seed, size in ((10, 8), (20, 4)))
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        step(optimizer)
        losses.append(mean(loss.detach()))
    return losses


def sums(device, ordinal):
    found = []
    for index in range(3):
        x = torch.full((2, 2), float(ordinal + index)).to(device)
        y = xm.all_reduce(xm.REDUCE_SUM, x)
        torch_xla.sync()
        found.append(y.cpu()[0, 0].item())
    return found


def step(optimizer):
    xm.optimizer_step(optimizer)
    torch_xla.sync()


def mean(loss):
    total = xm.all_reduce(xm.REDUCE_SUM, loss, scale=1 / REPLICAS)
    torch_xla.sync()
    return total.item()


def replica(index):
    ordinal, device = xr.global_ordinal(), torch_xla.device()
    share = BATCH // REPLICAS
    part = slice(ordinal * share, (ordinal + 1) * share)
    say(ordinal, sums=sums(device, ordinal), losses=train(device, part, step, mean))


def lame_replica(index):
    device = torch_xla.device()
    x = torch.ones(2, 2).to(device) ** (2 if xr.global_ordinal() < 2 else 3)
    print(xm.all_reduce(xm.REDUCE_SUM, x).cpu(), flush=True)


def main(where):
    if where == "cpu":
        losses = train("cpu", slice(None), lambda optimizer: optimizer.step(), torch.Tensor.item)
        say(0, sums=[sum(range(i, i + REPLICAS)) for i in range(3)], losses=losses)
    else:
        torch_xla.launch(replica if where == "launch" else lame_replica)


if sys.argv[1] != "cpu":
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.runtime as xr

if __name__ == "__main__":
    main(sys.argv[1])
