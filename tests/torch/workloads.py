"""Small workloads in PyTorch. Prints one line of JSON: the numbers of each, as hexadecimal floats.

    workloads.py xla     WORKLOADS on PyTorch/XLA's device
    workloads.py spmd    a training that is sharded over four devices
    workloads.py cpu     all of these on the CPU, without PyTorch/XLA
"""

import io
import json
import sys

import torch

STEPS = 5


def sync():
    if DEVICE.type == "xla":
        torch_xla.sync()


def data(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


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


def mlp_with_sgd():
    model = made(mlp)
    return train(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))


def mlp_with_adam():
    model = made(mlp)
    return train(model, torch.optim.Adam(model.parameters(), lr=0.01))


class Block(torch.nn.Module):
    """One block of a GPT with its embedding and its head."""

    def __init__(self, words=17, size=16, heads=2):
        super().__init__()
        self.heads = heads
        self.embed = torch.nn.Embedding(words, size)
        self.first, self.second = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.out = torch.nn.Linear(size, size)
        self.wide, self.narrow = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)
        self.head = torch.nn.Linear(size, words)

    def attend(self, x):
        batch, length, size = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(size, dim=2))
        scores = q @ k.transpose(2, 3) / (size // self.heads) ** 0.5
        ahead = torch.ones(length, length, device=x.device).triu(1) > 0
        weights = scores.masked_fill(ahead, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, size))

    def forward(self, ids):
        x = self.embed(ids)
        x = x + self.attend(self.first(x))
        x = x + self.narrow(torch.nn.functional.gelu(self.wide(self.second(x))))
        return self.head(x)


def gpt_with_adamw():
    model = made(Block)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    ids = torch.randint(17, (4, 9), generator=torch.Generator().manual_seed(3)).to(DEVICE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        scores = model(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        sync()
        losses.append(loss.item())
    return losses


def item_in_mid_step():
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(1, 32, 8), data(2, 32, 4)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        sync()
    return losses


def checkpoint():
    """Two steps, saved and loaded into a new model and optimizer, and three more."""
    model = made(mlp)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = train(model, optimizer, 2)
    file = io.BytesIO()
    on_cpu = {name: value.cpu() for name, value in model.state_dict().items()}
    torch.save({"model": on_cpu, "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    kept = torch.load(file, map_location="cpu")
    model = mlp().to(DEVICE)
    model.load_state_dict(kept["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    optimizer.load_state_dict(kept["optimizer"])
    return losses + train(model, optimizer, 3)


def in_place():
    x = data(4, 6, 6)
    view = x[2:4]
    view.mul_(3)
    sync()
    x.add_(1).clamp_(min=0)
    x[:, 0] = 7
    x.index_fill_(0, torch.tensor([5], device=DEVICE), -2.0)
    sync()
    return x.flatten().tolist() + view.flatten().tolist()


def autograd():
    x = data(5, 4, 4).requires_grad_()
    y = (x.exp() @ x.sin()).tanh().sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(first.pow(2).sum(), x)
    sync()
    return first.flatten().tolist() + second.flatten().tolist()


WORKLOADS = [mlp_with_sgd, mlp_with_adam, gpt_with_adamw, item_in_mid_step, checkpoint, in_place,
             autograd]


def mlp_in_parts():
    """The batch is divided among the devices; parameters are on all of them."""
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(1, 32, 8), data(2, 32, 4)
    if WHERE == "spmd":
        mesh = spmd.Mesh(list(range(4)), (4,), ("data",))
        for batch in (x, y):
            spmd.mark_sharding(batch, mesh, ("data", None))
    return [step(model, optimizer, x, y) for _ in range(STEPS)]


def devices():
    return [torch_xla.runtime.global_runtime_device_count()]


WHERE = sys.argv[1]
DEVICE = torch.device("cpu")
if WHERE != "cpu":
    import torch_xla
    import torch_xla.distributed.spmd as spmd
    import torch_xla.runtime
    if WHERE == "spmd":
        torch_xla.runtime.use_spmd()
    DEVICE = torch_xla.device()
workloads = {"cpu": [*WORKLOADS, mlp_in_parts], "xla": WORKLOADS, "spmd": [devices, mlp_in_parts]}
print(json.dumps({workload.__name__: [float(value).hex() for value in workload()]
                  for workload in workloads[WHERE]}))
