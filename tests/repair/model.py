"""Trains a small language model with PyTorch/XLA: attention, a mixture of experts, prediction of several tokens ahead.
Built as it should be, a run is a few programs. Each accident, a habit that makes it more, stands next to the code that
avoids it. All of them happen, except those that are named as repaired.

    python model.py [--repaired NAME,NAME...|all] [--steps 30]
"""

import argparse
import contextlib
import math
import time

import torch
import torch.nn.functional as F
import torch_xla

# Each accident, and the words of which the advice must have one to lead to its repair.
ACCIDENTS = {
    "short_batch": "pad | drop_last",
    "unpadded": "pad",
    "ids_dtype": "convert where the data is made",
    "optional_structure": "same keys",
    "optional_weights": "same keys",
    "order_of_a_dict": "order | keep the choice fixed",
    "mask_of_lengths": "mask | choose on the device",
    "changing_top_k": "mask",
    "capacity_of_the_batch": "mask",
    "counter": "on the device | tensor of one dimension",
    "nonzero": "mask",
    "dropout_schedule": "rates fixed",
    "item": "torch.where | keep it on the device",
    "barrier": "one sync",
    "mask_gather": "mask",
    "int_of_a_tensor": "mask | on the device",
    "mtp_grows": "keep the choice fixed",
    "autocast_at_times": "in every call",
    "nan_check": "torch.where | keep it on the device",
    "sync_of_a_micro_batch": "sync after optimizer.step() only | zeros first",
    "gradients_none_at_times": "set_to_none=False | zeros first",
    "clipping_by_item": "torch.where | keep it on the device",
    "adamw_on_the_host": "capturable=True | one dimension on the device",
    "adamw_state": "create it before the first step",
    "rate_of_the_host": "tensor of one dimension",
    "embedding_unfrozen": "requires_grad",
    "average_begins_later": "before the first step",
    "history_grows": "allocate the full length",
    "logged_before_the_sync": "after the step",
    "assigned_checkpoint": "without assign=True",
}
REPAIRED = set()


def happens(accident):
    assert accident in ACCIDENTS, accident
    return accident not in REPAIRED and "all" not in REPAIRED


def on_device(number):
    """A number of the host as an argument of the program, whatever its value."""
    return torch.tensor([float(number)]).to(DEVICE)


# ---------------------------------------------------------------------------------------------------------------- data

WORDS, ROWS, LENGTH, MICRO, DEPTHS = 96, 4, 24, 2, 3


def sequences(rng, rows):
    """Rows in which a word follows from the one before it, mostly."""
    words = torch.randint(WORDS, (rows, 1), generator=rng)
    for _ in range(LENGTH):
        noise = torch.randint(4, (rows, 1), generator=rng)
        words = torch.cat([words, (words[:, -1:] * 5 + 7 + noise) % WORDS], 1)
    return words


def load(rng, step, micro):
    """A batch on the host. Its rows have different lengths."""
    rows = ROWS
    if happens("short_batch"):
        rows = ROWS - 1 if step % 10 == 9 else ROWS
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (rows,), generator=rng)
    if step % 4 == 0:
        lengths[:] = LENGTH
    words = sequences(rng, rows)
    longest = LENGTH
    if happens("unpadded"):
        longest = int(lengths.max())
    batch = {"words": words[:, : longest + 1], "lengths": lengths, "count": int(lengths.sum())}
    if happens("ids_dtype"):
        if step % 13 == 12:
            batch["words"] = batch["words"].int()
    if happens("optional_structure"):
        if step % 5 != 4:
            batch["structure"] = batch["words"][:, :-1] % 9
    else:
        batch["structure"] = batch["words"][:, :-1] % 9
    if happens("optional_weights"):
        if step % 7 != 6:
            batch["weights"] = torch.linspace(0.5, 1.5, longest)
    else:
        batch["weights"] = torch.linspace(0.5, 1.5, longest)
    batch["tasks"] = ["next", "ahead", "balance"]
    if happens("order_of_a_dict"):
        if (step + micro) % 3 == 0:
            batch["tasks"] = ["balance", "next", "ahead"]
    return batch


def to_device(batch):
    on = {"lengths": batch["lengths"].tolist(), "count": batch["count"], "tasks": batch["tasks"]}
    on["words"] = batch["words"].to(DEVICE)  # <- short_batch, unpadded, ids_dtype
    on["length"] = batch["lengths"].to(DEVICE)  # <- short_batch
    if "structure" in batch:
        on["structure"] = batch["structure"].to(DEVICE)  # <- optional_structure, unpadded, short_batch
    if "weights" in batch:
        on["weights"] = batch["weights"].to(DEVICE)  # <- optional_weights, unpadded
    return on


# --------------------------------------------------------------------------------------------------------------- model


def normed(x):
    return F.layer_norm(x, x.shape[-1:])


class Attention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)

    def forward(self, x, batch, valid):
        rows, length, width = x.shape
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(normed(x)).split(width, dim=2))  # <- autocast_at_times
        scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)  # <- autocast_at_times
        behind = torch.ones(length, length, device=DEVICE).tril() > 0
        if happens("mask_of_lengths"):
            allowed = torch.zeros(rows, length, length, device=DEVICE)
            for row, real in enumerate(batch["lengths"]):
                allowed[row, :, :real] = 1
            scores = scores.masked_fill((behind & (allowed > 0)).logical_not()[:, None], -1e30)  # <- autocast_at_times
        else:
            allowed = behind & (valid > 0)[:, None, :]
            scores = scores.masked_fill(allowed.logical_not()[:, None], -1e30)  # <- autocast_at_times
        mixed = scores.softmax(-1) @ v
        return x + self.out(mixed.transpose(1, 2).reshape(rows, length, width))


class Experts(torch.nn.Module):
    def __init__(self, width, experts=4):
        super().__init__()
        self.router = torch.nn.Linear(width, experts, bias=False)
        self.up = torch.nn.Parameter(torch.randn(experts, width, 2 * width) / math.sqrt(width))
        self.down = torch.nn.Parameter(torch.randn(experts, 2 * width, width) / math.sqrt(2 * width))
        self.dropped = torch.zeros(1)
        self.dropped_on_host = 0

    def forward(self, x, batch, valid, step):
        flat = normed(x).flatten(0, 1)
        live = valid.flatten()
        experts = self.up.shape[0]
        share = self.router(flat).softmax(-1)
        place = share.argsort(-1, descending=True).argsort(-1)
        if happens("changing_top_k"):
            chosen = torch.zeros_like(share).scatter(1, share.topk(1 if step < 12 else 2, dim=-1).indices, 1.0)
        else:
            chosen = (place < on_device(1 if step < 12 else 2)).float()
        chosen = chosen * live[:, None]
        if happens("capacity_of_the_batch"):
            capacity = math.ceil(1.25 * batch["count"] / experts)
        else:
            capacity = math.ceil(1.25 * ROWS * LENGTH / experts)
        seat = chosen.cumsum(0) * chosen - 1
        slots = torch.arange(capacity, device=DEVICE)  # <- capacity_of_the_batch
        seats = (seat[:, :, None] == slots).float()
        self.dropped = self.dropped + (chosen.sum() - seats.sum()).detach()
        if happens("counter"):
            cooled = torch.full((1,), 0.999, device=DEVICE).pow(self.dropped_on_host)
        else:
            cooled = torch.full((1,), 0.999, device=DEVICE).pow(self.dropped)
        work = torch.einsum("tec,tw->ecw", seats, flat)
        work = F.gelu(work @ self.up) @ self.down
        gate = share * chosen * cooled
        y = torch.einsum("tec,ecw,te->tw", seats, work, gate)
        if happens("nonzero"):
            found = live.nonzero().squeeze(1)
            load = share[found].mean(0)
        else:
            load = (share * live[:, None]).sum(0) / live.sum()
        return x + y.view_as(x), experts * (load * load).sum()


class Ahead(torch.nn.Module):
    """Predicts one word further than the stream before it does."""

    def __init__(self, width):
        super().__init__()
        self.join = torch.nn.Linear(2 * width, width, bias=False)

    def forward(self, x, embedded):
        return x + F.gelu(self.join(torch.cat([normed(x), embedded], -1)))  # <- mtp_grows


class Model(torch.nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.embed = torch.nn.Embedding(WORDS, width)
        self.structure = torch.nn.Embedding(9, width)
        self.attention = Attention(width, heads)
        self.experts = Experts(width)
        self.ahead = torch.nn.ModuleList(Ahead(width) for _ in range(DEPTHS))
        self.head = torch.nn.Linear(width, WORDS, bias=False)

    def forward(self, batch, valid, step):
        words = batch["words"][:, :-1]
        x = self.embed(words)
        if "structure" in batch:  # <- optional_structure
            x = x + self.structure(batch["structure"])  # <- optional_structure
        if happens("dropout_schedule"):
            x = F.dropout(x, 0.05 * (step // 10))
        else:
            x = x * (torch.rand(x.shape, device=DEVICE) >= on_device(0.05 * (step // 10)))
        if happens("item"):
            if (valid.sum() < valid.numel()).item():
                x = x * valid[:, :, None]
        else:
            x = torch.where(valid[:, :, None] > 0, x, torch.zeros_like(x))
        x = self.attention(x, batch, valid)
        if happens("barrier"):
            torch_xla.sync()
        return self.experts(x, batch, valid, step)


# ---------------------------------------------------------------------------------------------------------------- loss


def loss_of(model, batch, step):
    words = batch["words"]
    steps = torch.arange(words.shape[1] - 1, device=DEVICE)  # <- unpadded
    valid = (steps < batch["length"][:, None]).float()
    weight = valid
    if "weights" in batch:  # <- optional_weights
        weight = weight * batch["weights"]  # <- optional_weights
    x, balance = model(batch, valid, step)

    def cross_entropy(x, shift):
        targets = words.roll(-shift, 1)[:, 1:]
        kept = weight * (steps < words.shape[1] - 1 - shift)  # <- mtp_grows
        losses = F.cross_entropy(model.head(x).flatten(0, 1), targets.flatten().long(), reduction="none").view_as(kept)
        return losses, kept

    losses, kept = cross_entropy(x, 0)
    if happens("mask_gather"):
        near = losses[valid > 0].mean()
    else:
        near = (losses * kept).sum() / kept.sum()
    if happens("int_of_a_tensor"):
        longest = int(batch["length"].float().mean())
        near = near + 0.1 * losses[:, :longest].mean()
    else:
        early = (steps < batch["length"].float().mean()).float()
        near = near + 0.1 * (losses * early).sum() / (early.sum() * losses.shape[0])

    far = 0
    if happens("mtp_grows"):
        depth = 1 + step // 10
        for k in range(depth):
            x = model.ahead[k](x, model.embed(words.roll(-k - 1, 1)[:, :-1]))
            losses, kept = cross_entropy(x, k + 1)
            far = far + (losses * kept).sum() / kept.sum()
    else:
        for k in range(DEPTHS):
            x = model.ahead[k](x, model.embed(words.roll(-k - 1, 1)[:, :-1]))
            losses, kept = cross_entropy(x, k + 1)
            far = far + (losses * kept).sum() / kept.sum() * on_device(k <= step // 10)
    parts = {"next": near, "ahead": 0.3 * far, "balance": 0.01 * balance}
    total = torch.zeros(1, device=DEVICE)
    for task in batch["tasks"]:
        total = total + parts[task]  # <- order_of_a_dict
    return total.sum()


# ------------------------------------------------------------------------------------------------------------ training


def make_optimizer(model):
    if happens("adamw_on_the_host"):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False, capturable=True)
    if not happens("adamw_state"):
        for p in model.parameters():
            optimizer.state[p] = {"step": torch.zeros((), device=p.device), "exp_avg": torch.zeros_like(p),
                                  "exp_avg_sq": torch.zeros_like(p)}
    return optimizer


def set_rate(optimizer, step):
    rate = 1e-2 * min(step / 5, 1.0)
    if happens("rate_of_the_host"):
        optimizer.param_groups[0]["lr"] = rate
    else:
        optimizer.param_groups[0]["lr"] = on_device(max(rate, 1e-8))


def train_step(model, optimizer, averages, history, rng, step):
    set_rate(optimizer, step)
    if happens("embedding_unfrozen"):
        model.embed.weight.requires_grad_(step >= 8)
    kept = []
    for micro in range(MICRO):
        batch = to_device(load(rng, step, micro))
        cast = contextlib.nullcontext()
        if happens("autocast_at_times"):
            if step % 6 == 5:
                cast = torch.autocast("xla", dtype=torch.bfloat16)
        with cast:
            loss = loss_of(model, batch, step) / MICRO  # <- autocast_at_times
        if happens("nan_check"):
            if torch.isnan(loss):
                continue
        loss.backward()  # <- embedding_unfrozen, gradients_none_at_times, sync_of_a_micro_batch, assigned_checkpoint
        kept.append(loss.detach())
        if happens("sync_of_a_micro_batch"):
            torch_xla.sync()
    if happens("clipping_by_item"):
        norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
        if norm.item() > 1:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.mul_(1 / norm)
    else:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()  # <- rate_of_the_host, adamw_on_the_host, adamw_state, embedding_unfrozen, assigned_checkpoint
    if happens("gradients_none_at_times"):
        optimizer.zero_grad(set_to_none=step % 2 == 0)
    else:
        optimizer.zero_grad()
    if happens("average_begins_later"):
        if step >= 14:
            for average, p in zip(averages, model.parameters()):
                average.lerp_(p.detach(), 0.1)
    else:
        follow = on_device(0.1 * (step >= 14))
        for average, p in zip(averages, model.parameters()):
            average.copy_(average + (p.detach() - average) * follow)
    loss = torch.stack(kept).sum()
    if happens("history_grows"):
        history[0] = torch.cat([history[0], loss[None]])
    else:
        history[0] = torch.where(torch.arange(64, device=DEVICE) == on_device(step), loss, history[0])
    if happens("logged_before_the_sync"):
        if step % 5 == 0:
            print(f"step {step:3}  loss {loss.item():.3f}", flush=True)
        torch_xla.sync()
    else:
        torch_xla.sync()
        if step % 5 == 0:
            print(f"step {step:3}  loss {loss.item():.3f}", flush=True)
    if happens("counter"):
        model.experts.dropped_on_host = int(model.experts.dropped)


def main():
    model = Model().to(DEVICE)
    model.experts.dropped = model.experts.dropped.to(DEVICE)
    optimizer = make_optimizer(model)
    averages = [p.detach().clone() for p in model.parameters()]
    history = [torch.zeros(1 if happens("history_grows") else 64, device=DEVICE)]
    torch_xla.sync()
    rng = torch.Generator().manual_seed(0)
    for step in range(OPTIONS.steps):
        if step == 20:  # the best weights so far
            state = {name: value.cpu() for name, value in model.state_dict().items()}
            if happens("assigned_checkpoint"):
                state = {name: value.to(DEVICE) for name, value in state.items()}
                model.load_state_dict(state, assign=True)
            else:
                model.load_state_dict(state)
            torch_xla.sync()
        train_step(model, optimizer, averages, history, rng, step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repaired", default="")
    parser.add_argument("--steps", type=int, default=30)
    OPTIONS = parser.parse_args()
    REPAIRED |= set(filter(None, OPTIONS.repaired.split(",")))
    DEVICE = torch_xla.device()
    torch.manual_seed(0)
    started = time.monotonic()
    main()
    print(f"{OPTIONS.steps} steps in {time.monotonic() - started:.1f} s")
