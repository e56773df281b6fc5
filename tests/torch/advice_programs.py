"""Pairs for advice.py: an accident, and the same with its advice followed to the letter. Those about
models and optimizers are in advice_training.py.

Each function has a sync of its own, by whose line its programs are reported; what is set up is synced
by `settle`.

    advice_programs.py FUNCTION...
"""

import sys

import torch
import torch_xla
import torch_xla.backends
import torch_xla.runtime

IS_SHARDED = any(name.startswith(("sharding", "gathered")) for name in sys.argv[1:])
if IS_SHARDED:
    torch_xla.runtime.use_spmd()

from advice_setup import DEVICE, made, run, settle  # noqa: E402

torch.manual_seed(0)
W = 4


def shape_accident():
    w = made(W, W)
    for rows in (8, 8, 5):
        y = torch.randn(rows, W).to(DEVICE) @ w
        torch_xla.sync()


def shape_mended():
    w = made(W, W)
    data = torch.utils.data.DataLoader(torch.randn(21, W), batch_size=8, drop_last=True)
    for rows in data:
        y = rows.to(DEVICE) @ w
        torch_xla.sync()


def dtype_accident():
    w = made(W, W)
    for dtype in (torch.float32, torch.float64, torch.float32):
        y = torch.ones(8, W, dtype=dtype).to(DEVICE).float() @ w
        torch_xla.sync()


def dtype_mended():
    w = made(W, W)
    for dtype in (torch.float32, torch.float64, torch.float32):
        y = torch.ones(8, W, dtype=dtype).to(torch.float32).to(DEVICE).float() @ w
        torch_xla.sync()


def arguments_accident():
    w = made(W, W)
    for step in range(3):
        batch = {"x": torch.ones(8, W).to(DEVICE)}
        if step == 2:
            batch["weight"] = torch.rand(8, W).to(DEVICE)
        y = batch["x"] @ w
        if "weight" in batch:
            y = y + batch["weight"]
        torch_xla.sync()


def made_here_accident():
    w, state = made(W, W), None
    for step in range(3):
        y = torch.tanh(w @ w)
        if state is not None:
            y = y + state
        state = y * 0.5
        del y
        torch_xla.sync()


def made_here_mended():
    w, state = made(W, W), torch.zeros(W, W).to(DEVICE)
    settle()
    for step in range(3):
        y = torch.tanh(w @ w) + state
        state = y * 0.5
        del y
        torch_xla.sync()


def arguments_mended():
    w = made(W, W)
    for step in range(3):
        batch = {"x": torch.ones(8, W).to(DEVICE), "weight": torch.zeros(8, W).to(DEVICE)}
        y = batch["x"] @ w
        if "weight" in batch:
            y = y + batch["weight"]
        torch_xla.sync()


def constant_accident():
    x = made(8, W)
    for step in range(3):
        y = x.abs() ** (step + 2)
        torch_xla.sync()


def constant_mended():
    x = made(8, W)
    power = torch.tensor([2.0]).to(DEVICE)
    settle()
    for step in range(3):
        y = x.abs() ** power
        power += 1
        torch_xla.sync()


def index_accident():
    x = made(8, W)
    for step in range(3):
        y = x[step] * 2
        torch_xla.sync()


def index_mended():
    x = made(8, W)
    i = torch.tensor([0]).to(DEVICE)
    settle()
    for step in range(3):
        y = x.index_select(0, i) * 2
        i += 1
        torch_xla.sync()


def read_back_accident():
    x = made(8, W)
    i = torch.tensor(1).to(DEVICE)
    settle()
    for step in range(3):
        y = x[i] * 2
        i = i + 1
        torch_xla.sync()


def read_back_mended():
    x = made(8, W)
    i = torch.tensor([1]).to(DEVICE)
    settle()
    for step in range(3):
        y = x.index_select(0, i) * 2
        i += 1
        torch_xla.sync()


def structure_accident():
    x = made(8, W)
    for step in range(3):
        y = torch.tanh(x)
        if step == 2:
            y = y * torch.sigmoid(x) + torch.exp(x)
        torch_xla.sync()


def structure_mended():
    x = made(8, W)
    for step in range(3):
        is_last = torch.tensor([step == 2]).to(DEVICE)
        y = torch.tanh(x)
        y = torch.where(is_last, y * torch.sigmoid(x) + torch.exp(x), y)
        torch_xla.sync()


def size_accident():
    x = made(8, W)
    for count in (6, 6, W):
        y = (x[:count] * 2).sum(0)
        torch_xla.sync()


def size_mended():
    x = made(8, W)
    for count in (6, 6, W):
        mask = (torch.arange(8) < count).unsqueeze(1).to(DEVICE)
        y = torch.where(mask, x * 2, 0).sum(0)
        torch_xla.sync()


def grown_accident():
    cache = made(1, W)
    for step in range(4):
        cache = torch.cat([cache, cache[:1] * 2])
        y = cache.sum()
        torch_xla.sync()


def grown_mended():
    cache = torch.zeros(8, W).to(DEVICE)
    place = torch.tensor([0]).to(DEVICE)
    settle()
    for step in range(4):
        cache.index_copy_(0, place, cache[:1] * 2)
        place += 1
        y = cache.sum()
        torch_xla.sync()


def counted_accident():
    x = made(8, W)
    for step in range(3):
        mask = (torch.arange(8) < 5 - step).to(DEVICE)
        y = (x[mask] * 2).sum(0)
        torch_xla.sync()


def counted_mended():
    x = made(8, W)
    for step in range(3):
        mask = (torch.arange(8) < 5 - step).to(DEVICE)
        y = torch.where(mask.unsqueeze(1), x * 2, 0).sum(0)
        torch_xla.sync()


def host_read_accident():
    w = made(W, W)
    for step in range(4):
        loss = (torch.ones(8, W).to(DEVICE) @ w).pow(2).mean()
        print(loss.item())
        w = w - 0.1 * loss * w
        torch_xla.sync()


def host_read_mended():
    w = made(W, W)
    for step in range(4):
        loss = (torch.ones(8, W).to(DEVICE) @ w).pow(2).mean()
        w = w - 0.1 * loss * w
        torch_xla.sync()
        if step % 2:
            print(loss.item())


def endless_accident():
    w = made(W, W)
    for step in range(3):
        w = torch.tanh(w @ w)
        print(w.sum().item())


def endless_mended():
    w = made(W, W)
    for step in range(3):
        w = torch.tanh(w @ w)
        total = w.sum()
        torch_xla.sync()
        print(total.item())


def donation_accident():
    x = made(8, W)
    for in_place in (False, True):
        if in_place:
            x.mul_(0.5)
        else:
            y = x * 0.5
        torch_xla.sync()


def donation_mended():
    x = made(8, W)
    for step in range(3):
        x.mul_(0.5)
        torch_xla.sync()


def host_scalar_accident():
    w = made(W, W)
    for step in range(12):
        w = torch.tanh(w @ w)
        torch_xla.sync()
        print(w[0, 0].item())


def host_scalar_mended():
    w = made(W, W)
    for step in range(12):
        w = torch.tanh(w @ w)
        torch_xla.sync()
    print(w.cpu()[0, 0].item())


def host_mask_accident():
    x = made(8, W)
    for step in range(8):
        y = torch.masked_select(x, x > 0).sum()
        torch_xla.sync()


def host_mask_mended():
    x = made(8, W)
    for step in range(8):
        y = torch.where(x > 0, x, 0).sum()
        torch_xla.sync()


def host_unique_accident():
    x = made(8, W).round()
    for step in range(8):
        y = torch.unique(x).sum()
        torch_xla.sync()


def host_unique_mended():
    x = made(8, W).round()
    settle()
    for step in range(8):
        y = torch.sort(x.flatten()).values.sum()
        torch_xla.sync()


def host_bincount_accident():
    x = torch.arange(8).to(DEVICE) % W
    settle()
    for step in range(8):
        y = torch.bincount(x) * 2
        torch_xla.sync()


def host_bincount_mended():
    x = torch.arange(8).to(DEVICE) % W
    settle()
    for step in range(8):
        y = torch.nn.functional.one_hot(x, W).sum(0) * 2
        torch_xla.sync()


def host_op_accident():
    x = made(W, W)
    for step in range(8):
        x = x + torch.linalg.eigvals(x).real
        torch_xla.sync()


def host_op_mended():
    x = made(W, W)
    for step in range(8):
        x = x * 2
        torch_xla.sync()
    print(torch.linalg.eigvals(x.cpu()))


def setting_accident():
    x = made(8, W)
    for shift in range(1, 4):
        y = x.roll(shift, 0) * 2
        torch_xla.sync()


def setting_mended():
    x = made(8, W)
    places = torch.arange(8).to(DEVICE)
    shift = torch.tensor([1]).to(DEVICE)
    settle()
    for step in range(3):
        y = x.index_select(0, (places - shift) % 8) * 2
        shift += 1
        torch_xla.sync()


def bent(bends):
    x = made(8, W)
    for bend in bends:
        yield torch.nn.functional.smooth_l1_loss(x, x * 2, beta=bend)


def nought_accident():
    for loss in bent((1.0, 0.3, 1.0)):
        torch_xla.sync()


def nought_mended():
    for loss in bent((1.001, 0.3, 1.001)):
        torch_xla.sync()


def merged_accident():
    x = made(8, W)
    for share in (0.9, 0.7, 0.5):
        y = (x * share).sum() + (x.square() * (1 - share)).sum()
        torch_xla.sync()


def merged_mended():
    x, share = made(8, W), torch.tensor([0.9]).to(DEVICE)
    settle()
    for step in range(3):
        y = (x * share).sum() + (x.square() * (1 - share)).sum()
        share.sub_(0.2)
        torch_xla.sync()


def squared(steps_that_keep):
    w, kept = made(W, W), []
    settle()
    for step in range(4):
        square = w * w
        if step in steps_that_keep:
            kept.append(square)
        loss = square.sum()
        del square
        yield loss


def kept_accident():
    for _ in squared((2,)):
        torch_xla.sync()


def kept_mended():
    for _ in squared(()):
        torch_xla.sync()


def over_all_devices(x):
    from torch_xla.distributed import spmd
    count = torch_xla.runtime.global_runtime_device_count()
    spmd.mark_sharding(x, spmd.Mesh(range(count), (count,), ("data",)), ("data", None))
    return x


def sharding_accident():
    for marked in (False, True):
        x = torch.ones(8, W).to(DEVICE)
        if marked:
            over_all_devices(x)
        y = x * x
        torch_xla.sync()


def sharding_mended():
    for _ in range(2):
        x = over_all_devices(torch.ones(8, W).to(DEVICE))
        y = x * x
        torch_xla.sync()


def gathered_accident():
    x = over_all_devices(torch.ones(8, W).to(DEVICE))
    for step in range(4):
        x = over_all_devices(x * 2)
        torch_xla.sync()
        print(x.cpu().sum())


def gathered_mended():
    x = over_all_devices(torch.ones(8, W).to(DEVICE))
    for step in range(4):
        x = over_all_devices(x * 2)
        torch_xla.sync()
        if step == 3:
            print(x.cpu().sum())


def product(precision):
    torch_xla.backends.set_mat_mul_precision(precision)
    x = torch.ones(8, 8).to(DEVICE)
    y = x @ x
    torch_xla.sync()


def default_product():
    product("default")


def highest_product():
    product("highest")


run(globals())
