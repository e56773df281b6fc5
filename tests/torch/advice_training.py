"""Pairs as those of advice_programs.py, about models and their optimizers.

    advice_training.py FUNCTION...
"""

import torch
import torch_xla
from torch_xla.utils.checkpoint import checkpoint

from advice_setup import DEVICE, made, run, settle

torch.manual_seed(0)
W = 4


def linear():
    layer = torch.nn.Linear(W, W).to(DEVICE)
    settle()
    return layer


def gradient_accident():
    model, x = linear(), made(8, W)
    for micro in range(4):
        if micro % 2 == 0:
            model.zero_grad()
        model(x).pow(2).mean().backward()
        torch_xla.sync()


def gradient_mended():
    model, x = linear(), made(8, W)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for micro in range(4):
        if micro % 2 == 0:
            model.zero_grad(set_to_none=False)
            settle()
        model(x).pow(2).mean().backward()
        torch_xla.sync()


def state_made_accident():
    model, x = linear(), made(8, W)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def state_made_mended():
    model, x = linear(), made(8, W)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for p in model.parameters():
        optimizer.state[p] = {"step": torch.zeros(()), "exp_avg": torch.zeros_like(p),
                              "exp_avg_sq": torch.zeros_like(p)}
    settle()
    for step in range(3):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def replaced_accident():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if step == 2:
            model.load_state_dict(kept, assign=True)
            model.to(DEVICE)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def replaced_mended():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if step == 2:
            model.load_state_dict(kept)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def gradients_of_zeros(model):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    settle()


def abandoned_accident():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gradients_of_zeros(model)
    for step in range(6):
        if step == 2:
            model.load_state_dict({k: v.to(DEVICE) for k, v in kept.items()}, assign=True)
        optimizer.zero_grad(set_to_none=False)
        settle()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def abandoned_mended():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gradients_of_zeros(model)
    for step in range(6):
        if step == 2:
            model.load_state_dict(kept)
        optimizer.zero_grad(set_to_none=False)
        settle()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def rate_on_the_device(model, capturable):
    rate = torch.tensor([0.1]).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, capturable=capturable)
    for p in model.parameters():
        count = torch.zeros(())
        optimizer.state[p] = {"step": count.to(DEVICE) if capturable else count,
                              "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
    settle()
    return optimizer


def optimizer_reads_accident():
    model, x = linear(), made(8, W)
    optimizer = rate_on_the_device(model, capturable=False)
    for step in range(4):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def optimizer_reads_mended():
    model, x = linear(), made(8, W)
    optimizer = rate_on_the_device(model, capturable=True)
    for step in range(4):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def copied_accident():
    model, x = linear(), made(8, W)
    kept = {name: value.detach().clone() for name, value in model.state_dict().items()}
    settle()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if step == 2:
            model.load_state_dict(kept)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def copied_mended():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if step == 2:
            model.load_state_dict(kept)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def not_zeroed_accident():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if step == 3:
            model.load_state_dict(kept, assign=True)
            model.to(DEVICE)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def not_zeroed_mended():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if step == 3:
            model.load_state_dict(kept, assign=True)
            model.to(DEVICE)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def idle_accident():
    model, x = linear(), made(8, W)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        model.zero_grad()
        model(x).pow(2).mean().backward()
        if step != 2:
            optimizer.step()
        torch_xla.sync()


def idle_mended():
    model, x = linear(), made(8, W)
    kept = {name: value.cpu() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        if step == 2:
            model.load_state_dict(kept, assign=True)
            model.to(DEVICE)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            settle()
        model.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def frozen_accident():
    first, second, x = linear(), linear(), made(8, W)
    first.requires_grad_(False)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    for step in range(4):
        if step == 2:
            first.requires_grad_(True)
        optimizer.zero_grad()
        second(torch.relu(first(x))).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def frozen_mended():
    first, second, x = linear(), linear(), made(8, W)
    first.requires_grad_(False)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        second(torch.relu(first(x))).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def evaluated_accident():
    model, x = linear(), made(8, W)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for train in (True, False, True, False):
        with torch.set_grad_enabled(train):
            loss = model(x).pow(2).mean()
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch_xla.sync()


def evaluated_mended():
    model, x = linear(), made(8, W)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for train in (True, False, True, False):
        with torch.set_grad_enabled(train):
            loss = model(x).pow(2).mean()
        if not train:
            settle()
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()


def turns_step(make, judge, noise, real, optimizers, step):
    made_up = make(noise)
    optimizer = optimizers[step % 2]
    optimizer.zero_grad()
    if step % 2 == 0:
        loss = (judge(real) - 1).pow(2).mean() + judge(made_up.detach()).pow(2).mean()
    else:
        loss = (judge(made_up) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()


def turns_accident():
    make, judge, noise, real = linear(), linear(), made(8, W), made(8, W)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (judge, make)]
    for step in range(4):
        turns_step(make, judge, noise, real, optimizers, step)
        torch_xla.sync()


def turns_mended():
    make, judge, noise, real = linear(), linear(), made(8, W), made(8, W)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (judge, make)]
    for step in range(4):
        turns_step(make, judge, noise, real, optimizers, step)
        if step % 2 == 0:
            settle()
        else:
            torch_xla.sync()


def stepped_programs(syncs_each):
    model, x = linear(), made(8, W)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    settle()
    for micro_batch in range(6):
        model(x).pow(2).mean().backward()
        if micro_batch % 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        if syncs_each or micro_batch % 2:
            yield


def stepped_accident():
    for _ in stepped_programs(syncs_each=True):
        torch_xla.sync()


def stepped_mended():
    for _ in stepped_programs(syncs_each=False):
        torch_xla.sync()


def dropped(modes):
    model, x, drop = linear(), made(8, W), torch.nn.Dropout(0.1)
    settle()
    for mode in modes:
        drop.train(mode)
        loss = drop(torch.tanh(model(x))).pow(2).mean()
        yield


def dropout_accident():
    for _ in dropped((True, False, True)):
        torch_xla.sync()


def dropout_mended():
    for _ in dropped((True, True, True)):
        torch_xla.sync()


def checkpointed(settings):
    model, other, x = linear(), linear(), made(8, W).requires_grad_()
    settle()
    for again in settings:
        hidden = checkpoint(lambda x: torch.tanh(model(x)), x) if again else torch.tanh(model(x))
        other(hidden).pow(2).mean().backward()
        yield x.grad
        x.grad = None
        model.zero_grad()
        other.zero_grad()


def trained(models):
    """One step of each."""
    for model in models:
        weight = next(model.parameters())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        rows = torch.ones(8, weight.shape[1], dtype=weight.dtype)
        model(rows.to(DEVICE)).pow(2).mean().backward()
        optimizer.step()
        yield model


def of_width(width):
    model = torch.nn.Sequential(torch.nn.Linear(W, width), torch.nn.Linear(width, W)).to(DEVICE)
    settle()
    return model


def model_size_accident():
    for _ in trained(map(of_width, (8, 8, 16))):
        torch_xla.sync()


def model_size_mended():
    for _ in trained(map(of_width, (8, 8, 8))):
        torch_xla.sync()


def of_dtype(dtypes):
    model = of_width(W)
    for dtype in dtypes:
        model.to(dtype)
        settle()
        yield model


def module_dtype_accident():
    for _ in trained(of_dtype((torch.float32, torch.float32, torch.bfloat16))):
        torch_xla.sync()


def module_dtype_mended():
    for _ in trained(of_dtype((torch.bfloat16, torch.bfloat16, torch.bfloat16))):
        torch_xla.sync()


def cast_to(halves):
    model = torch.nn.Sequential(torch.nn.Linear(W, W), torch.nn.ReLU(), torch.nn.Linear(W, 2))
    model.to(DEVICE)
    x = made(8, W)
    for is_half in halves:
        with torch.autocast("xla", dtype=torch.bfloat16, enabled=is_half):
            hidden = model[1](model[0](x))
            y = model[2](hidden)
        yield y


def cast_accident():
    for _ in cast_to((False, False, True)):
        torch_xla.sync()


def cast_mended():
    for _ in cast_to((True, True, True)):
        torch_xla.sync()


def recomputed_accident():
    for _ in checkpointed((False, True, False)):
        torch_xla.sync()


def recomputed_mended():
    for _ in checkpointed((True, True, True)):
        torch_xla.sync()


def train_scale(scale):
    x = made(8, W)
    optimizer = torch.optim.SGD([scale], lr=0.1)
    settle()
    for step in range(4):
        optimizer.zero_grad()
        (x * scale.exp()).pow(2).mean().backward()
        optimizer.step()
        yield


def scalar_sent_accident():
    for _ in train_scale(torch.tensor(0.5).to(DEVICE).requires_grad_()):
        torch_xla.sync()


def scalar_sent_mended():
    for _ in train_scale(torch.tensor([0.5]).to(DEVICE).requires_grad_()):
        torch_xla.sync()


def barrier_accident():
    first, second = torch.nn.Linear(W, W).to(DEVICE), torch.nn.Linear(W, 2).to(DEVICE)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    x = made(8, W)

    def forward(kept):
        hidden = torch.tanh(first(x)).index_select(1, torch.arange(kept, device=DEVICE))
        torch_xla.sync()
        return second(torch.nn.functional.pad(hidden, (0, W - kept)))

    for kept in (4, 4, 4, 3):
        optimizer.zero_grad()
        forward(kept).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


def barrier_mended():
    first, second = torch.nn.Linear(W, W).to(DEVICE), torch.nn.Linear(W, 2).to(DEVICE)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    x = made(8, W)
    for _ in range(4):
        optimizer.zero_grad()
        second(torch.tanh(first(x))).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()


run(globals())
