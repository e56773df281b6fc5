"""Trainings of five steps: models, optimizers, precision, checkpoints."""

import io

import torch

from common import DEVICE, STEPS, WHERE, data, made, mlp, numbers, step, sync, train, whole

functional = torch.nn.functional
CAPTURABLE = WHERE != "cpu"  # the count of steps is on the device, which a CPU refuses


def trained_with(kind, **options):
    model = made(mlp)
    return train(model, kind(model.parameters(), **options))


def mlp_with_sgd():
    return trained_with(torch.optim.SGD, lr=0.05, momentum=0.9)


def mlp_with_nesterov():
    return trained_with(torch.optim.SGD, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)


def mlp_with_adam():
    return trained_with(torch.optim.Adam, lr=0.01)


def mlp_with_adam_capturable():
    return trained_with(torch.optim.Adam, lr=0.01, capturable=CAPTURABLE)


def mlp_with_amsgrad():
    return trained_with(torch.optim.AdamW, lr=0.01, amsgrad=True, capturable=CAPTURABLE)


def mlp_with_adagrad():
    return trained_with(torch.optim.Adagrad, lr=0.05)


def mlp_with_rmsprop():
    return trained_with(torch.optim.RMSprop, lr=0.01, centered=True)


def groups_and_a_schedule():
    model = made(mlp)
    groups = [{"params": model[0].parameters(), "lr": 0.02}, {"params": model[2].parameters()}]
    optimizer = torch.optim.SGD(groups, lr=0.05)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    x, y = data(1, 32, 8), data(2, 32, 4)
    losses = []
    for _ in range(STEPS):
        losses.append(step(model, optimizer, x, y))
        schedule.step()
    return losses


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
        x = x + self.narrow(functional.gelu(self.wide(self.second(x))))
        return self.head(x)


def gpt_with_adamw():
    model = made(Block)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    ids = whole(3, 17, 4, 9)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        scores = model(ids[:, :-1])
        loss = functional.cross_entropy(scores.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        sync()
        losses.append(loss.item())
    return losses


class Pictures(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.near = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.far = torch.nn.Conv2d(4, 4, 3, stride=2, groups=2)
        self.back = torch.nn.ConvTranspose2d(4, 2, 3, stride=2)
        self.head = torch.nn.Linear(2, 4)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.norm(self.near(x))), 2)
        x = self.back(functional.silu(self.far(x)))
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def convolutions_and_batch_norm():
    """Trained, then evaluated with the statistics that the training left."""
    model = made(Pictures)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(6, 8, 3, 10, 10), data(7, 8, 4)
    losses = [step(model, optimizer, x, y) for _ in range(STEPS)]
    model.eval()
    with torch.no_grad():
        return losses + numbers(model(x), model.norm.running_mean, model.norm.running_var)


def dropout():
    """The seed of the device decides what is dropped."""
    torch.manual_seed(11)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Dropout(0.5),
                                torch.nn.Linear(32, 4)).to(DEVICE)
    return train(model, torch.optim.SGD(model.parameters(), lr=0.05))


def half_precision():
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(1, 32, 8), data(2, 32, 4)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
            loss = functional.mse_loss(model(x).float(), y)
        loss.backward()
        optimizer.step()
        sync()
        losses.append(loss.item())
    return losses


def gradients_of_two_batches():
    """Accumulated, cut off at a norm, and taken at once."""
    model = made(mlp)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = data(1, 32, 8), data(2, 32, 4)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        for half in (slice(16), slice(16, 32)):
            loss = functional.mse_loss(model(x[half]), y[half])
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
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
        loss = functional.mse_loss(model(x), y)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        sync()
    return losses


def saved(model, optimizer):
    """What a file would hold, read back: all of it on the CPU."""
    file = io.BytesIO()
    on_cpu = {name: value.cpu() for name, value in model.state_dict().items()}
    torch.save({"model": on_cpu, "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    return torch.load(file, map_location="cpu")


def restored(kept, load):
    model = load(mlp().to(DEVICE), kept["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    optimizer.load_state_dict(kept["optimizer"])
    return model, optimizer


def checkpoint(load):
    """Two steps, saved and loaded into a new model and optimizer, and three more."""
    model = made(mlp)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = train(model, optimizer, 2)
    return losses + train(*restored(saved(model, optimizer), load), 3)


def checkpoint_copied():
    def load(model, state):
        model.load_state_dict(state)
        return model
    return checkpoint(load)


def checkpoint_assigned():
    """The tensors that were loaded take the place of the parameters on the device."""
    def load(model, state):
        on_device = {name: value.to(DEVICE) for name, value in state.items()}
        model.load_state_dict(on_device, assign=True)
        return model
    return checkpoint(load)


def checkpoint_assigned_on_the_cpu():
    """What was loaded takes the place of the parameters, and goes to the device after that."""
    def load(model, state):
        model.load_state_dict(state, assign=True)
        return model.to(DEVICE)
    return checkpoint(load)


WORKLOADS = [mlp_with_sgd, mlp_with_nesterov, mlp_with_adam, mlp_with_adam_capturable,
             mlp_with_amsgrad, mlp_with_adagrad, mlp_with_rmsprop, groups_and_a_schedule,
             gpt_with_adamw, convolutions_and_batch_norm, dropout, half_precision,
             gradients_of_two_batches, item_in_mid_step, checkpoint_copied, checkpoint_assigned,
             checkpoint_assigned_on_the_cpu]
