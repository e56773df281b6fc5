"""Trains a small byte-level GPT with PyTorch/XLA, in steps that compile once. Each accident that
makes a step compile again is next to the code that avoids it, and happens only on request.

    python examples/torch/train_gpt.py
    python examples/torch/train_gpt.py --accident=item,varying-length
    python examples/torch/train_gpt.py --list

The text is the language reference that ships inside every CPython. Look for `happens(...)`.
"""

import argparse
import math
import pydoc_data.topics
import time

import numpy as np
import torch
import torch.nn.functional as F
import torch_xla

ACCIDENTS = {
    "counter-power": "the step counter is the exponent of a power",
    "counter-size": "the step counter is the size of a slice",
    "item": ".item() in mid-step, to log the loss",
    "any-item": ".any().item() in mid-step, to check whether all rows are full",
    "mask-gather": "losses[mask]: only the device knows how many are left",
    "varying-length": "rows are padded to the longest one in their batch",
    "top-k": "topk's k depends on the batch",
    "optional-keys": "a key that some batches do not have",
    "ragged-batch": "the last batch of an epoch is short",
    "moe-capacity": "the experts' capacity depends on the batch",
    "micro-sync": "a sync after each of --micro 2: gradients are created, then added to",
    "zero-grad": "gradients are zeroed in place, not set to None",
    "adamw-state": "AdamW creates its state in the first step",
    "adamw-host": "AdamW counts its steps on the host (capturable=False)",
    "rate": "the learning rate is a host number that starts at 0",
    "checkpoint-assign": "load_state_dict(assign=True) replaces the parameters",
    "sharding-unset": "with --spmd: parameters and state have no explicit sharding",
}
CHOSEN = set()


def happens(accident):
    assert accident in ACCIDENTS, accident
    return accident in CHOSEN


def on_device(number):
    """A host number as an argument of the program. It has one dimension, since PyTorch/XLA makes
    constants of a 0 and a 1 without dimensions."""
    return torch.tensor([float(number)]).to(DEVICE)


# ------------------------------------------------------------------------------------------- data

BYTES = 256  # the vocabulary: every value of a byte


def read_text():
    topics = pydoc_data.topics.topics
    text = "\n\n".join(topics[name] for name in sorted(topics)).encode()
    return np.frombuffer(text, dtype=np.uint8)


def epoch_of_batches(rng, text, options):
    """Yields batches of pieces of the text with different lengths, on the host; every third batch
    has only full rows. The last batch of an epoch is padded with empty rows."""
    for first in range(0, options.epoch, options.batch):
        rows = min(options.batch, options.epoch - first)
        lengths = np.full(rows, options.seq)
        if first // options.batch % 3:
            lengths = rng.integers(options.seq // 2, options.seq, rows)
        if not happens("ragged-batch"):
            lengths = np.pad(lengths, (0, options.batch - rows))
        yield collate(rng, text, lengths, options.seq, first == 0)


def collate(rng, text, lengths, seq, weighted):
    if happens("varying-length"):
        seq = lengths.max()
    batch = {"tokens": np.zeros((len(lengths), seq + 1), np.int64),
             "valid": (np.arange(seq) < lengths[:, None]).astype(np.float32),
             "count": int(lengths.sum())}
    for row, length in enumerate(lengths):
        start = rng.integers(0, len(text) - seq)
        batch["tokens"][row, : length + 1] = text[start : start + length + 1]
    if weighted:
        batch["weights"] = np.linspace(0.5, 1.5, seq, dtype=np.float32)
    elif not happens("optional-keys"):
        batch["weights"] = np.ones(seq, np.float32)
    return batch


def to_device(batch):
    """PyTorch/XLA names an argument by the line that moved it: so each has its own line."""
    on = {"count": batch["count"]}
    on["tokens"] = torch.from_numpy(batch["tokens"]).to(DEVICE)
    on["valid"] = torch.from_numpy(batch["valid"]).to(DEVICE)
    if "weights" in batch:
        on["weights"] = torch.from_numpy(batch["weights"]).to(DEVICE)
    if MESH:
        spmd.mark_sharding(on["tokens"], MESH, ("data", None))
        spmd.mark_sharding(on["valid"], MESH, ("data", None))
    return on


# ------------------------------------------------------------------------------------------ model


class Experts(torch.nn.Module):
    """A layer of a mixture of experts: each token goes to one of them, if there is room."""

    def __init__(self, width, experts=4):
        super().__init__()
        self.router = torch.nn.Linear(width, experts)
        wide = 2 * width
        self.up = torch.nn.Parameter(torch.randn(experts, width, wide) / math.sqrt(width))
        self.down = torch.nn.Parameter(torch.randn(experts, wide, width) / math.sqrt(wide))

    def forward(self, x, count):
        tokens = x.flatten(0, 1)
        experts = self.up.shape[0]
        if happens("moe-capacity"):
            capacity = math.ceil(count / experts)  # the bytes in this batch
        else:
            capacity = math.ceil(tokens.shape[0] / experts)  # the bytes that a batch has room for
        share, expert = self.router(tokens).softmax(-1).max(-1)
        chosen = (expert[:, None] == torch.arange(experts, device=x.device)).float()
        place = chosen.cumsum(0) * chosen - 1  # in the expert's queue; -1: in another queue
        slots = torch.arange(capacity, device=x.device)
        seats = (place[:, :, None] == slots).float()  # [tokens, experts, capacity]
        work = torch.einsum("tec,tw->ecw", seats, tokens)
        work = F.gelu(work @ self.up) @ self.down
        return x + (torch.einsum("tec,ecw->tw", seats, work) * share[:, None]).view_as(x)


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.project = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def attention(self, x):
        rows, seq, width = x.shape
        q, k, v = (part.view(rows, seq, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
        ahead = torch.ones(seq, seq, device=x.device).triu(1) > 0
        weights = scores.masked_fill(ahead, -math.inf).softmax(-1)
        return self.project((weights @ v).transpose(1, 2).reshape(rows, seq, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.down(F.gelu(self.up(self.second(x))))


class GPT(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embed = torch.nn.Embedding(BYTES, options.width)
        self.position = torch.nn.Parameter(torch.randn(options.seq, options.width) * 0.02)
        self.blocks = torch.nn.ModuleList(Block(options.width, options.heads)
                                          for _ in range(options.layers))
        self.experts = Experts(options.width)
        self.head = torch.nn.Linear(options.width, BYTES)

    def forward(self, tokens, count):
        x = self.embed(tokens) + self.position[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.experts(x, count))


# ------------------------------------------------------------------------------------------- loss


def loss_of(model, batch, step):
    """Cross-entropy in nats per byte, and that of the hardest quarter, which fades with time."""
    tokens, valid = batch["tokens"], batch["valid"]
    logits = model(tokens[:, :-1], batch["count"])
    losses = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    losses = losses.view_as(valid)

    if "weights" in batch:  # "optional-keys": a branch
        losses = losses * batch["weights"]

    if happens("any-item"):
        if (valid == 0).any().item():
            losses = losses * valid
    else:
        losses = losses * valid

    if happens("mask-gather"):
        mean = losses[valid > 0].mean()
    else:
        mean = (losses * valid).sum() / valid.sum()

    if happens("counter-size"):
        early = losses[:, : 16 + step].mean()
    else:
        is_early = torch.arange(valid.shape[1], device=DEVICE) < on_device(16 + step)
        early = (losses * is_early).sum() / (is_early.sum() * valid.shape[0])

    if happens("top-k"):
        hard = losses.flatten().topk(batch["count"] // 4).values.mean()
    else:
        rank = torch.arange(losses.numel(), device=DEVICE) < on_device(batch["count"] // 4)
        hard = (losses.flatten().sort(descending=True).values * rank).sum() / rank.sum()

    if happens("counter-power"):
        fade = torch.full((1,), 0.9, device=DEVICE).pow(step)
    else:
        fade = on_device(0.9**step)
    return (mean + fade * (hard + early)).sum()


# --------------------------------------------------------------------------------------- training


def make_optimizer(model, options):
    """AdamW that lives on the device: its rate, its step count and, from the start, its state."""
    is_on_host = happens("adamw-host") or happens("rate")
    optimizer = torch.optim.AdamW(model.parameters(), capturable=not is_on_host)
    if happens("adamw-state"):
        return optimizer  # makes its state in the first step: an argument only from then on
    for parameter in model.parameters():
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=None if is_on_host else DEVICE),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
    return optimizer


def set_rate(optimizer, step, options):
    for group in optimizer.param_groups:
        if happens("rate"):
            group["lr"] = options.learning_rate * min(1.0, step / 5)  # the 0 is a constant
        else:
            group["lr"] = on_device(options.learning_rate * min(1.0, (step + 1) / 5))


def train_step(model, optimizer, batches, step, losses):
    if happens("zero-grad"):
        optimizer.zero_grad(set_to_none=False)  # created in the first step, added to in the others
    else:
        optimizer.zero_grad()
    total = 0
    for batch in batches:
        loss = loss_of(model, to_device(batch), step) / len(batches)
        if happens("item"):
            print(f"step {step} loss {loss.item():.4f}")  # the host waits; the step is split in two
        loss.backward()
        if happens("micro-sync"):
            torch_xla.sync()
        total = total + loss.detach()
    optimizer.step()
    torch_xla.sync()
    losses.append(total)  # on the device: read after the sync, or much later


def replicate(model, optimizer):
    """With --spmd everything trained is on all devices, with an explicit spec. A tensor without one
    is there too, but gets one once a step has computed it: the next step is another program then."""
    tensors = list(model.parameters())
    for state in optimizer.state.values():
        tensors += state.values()
    for tensor in tensors:
        if tensor.device == DEVICE:
            spmd.mark_sharding(tensor, MESH, (None,) * tensor.dim())


def restore(model, kept):
    if happens("checkpoint-assign"):
        model.load_state_dict(kept, assign=True)
        model.to(DEVICE)
    else:
        model.load_state_dict(kept)
        torch_xla.sync()  # what a load records is not part of the next step


def train(options):
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    text = read_text()
    model = GPT(options).to(DEVICE)
    optimizer = make_optimizer(model, options)
    if MESH and not happens("sharding-unset"):
        replicate(model, optimizer)
    torch_xla.sync()  # parameters and state exist before the first step
    kept = {name: value.cpu() for name, value in model.state_dict().items()}

    started, step, losses = time.perf_counter(), 0, []
    while step < options.steps:
        batches = list(epoch_of_batches(rng, text, options))
        for first in range(0, len(batches) - options.micro + 1, options.micro):
            set_rate(optimizer, step, options)
            train_step(model, optimizer, batches[first : first + options.micro], step, losses)
            step += 1
            if step == options.steps // 2:
                restore(model, kept)
            if step == options.steps:
                break
    print("losses: " + " ".join(f"{loss.cpu():.4f}" for loss in losses))
    print(f"{options.steps} steps in {time.perf_counter() - started:.1f} s")


def parse_arguments():
    parser = argparse.ArgumentParser(description="Train a small GPT with PyTorch/XLA.")
    parser.add_argument("--accident", action="append", default=[], metavar="NAME[,NAME]...",
                        help="what goes wrong; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the accidents and stop")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=4, help="rows in a batch")
    parser.add_argument("--micro", type=int, default=1, help="batches in a step")
    parser.add_argument("--seq", type=int, default=64, help="bytes in a row")
    parser.add_argument("--epoch", type=int, default=18, help="rows in an epoch")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spmd", action="store_true", help="split batches over all devices")
    options = parser.parse_args()
    CHOSEN.update(name for names in options.accident for name in names.split(","))
    if options.micro * options.batch > options.epoch:
        parser.error(f"--epoch {options.epoch}: a step takes {options.micro * options.batch} rows")
    for name in CHOSEN - set(ACCIDENTS):
        parser.error(f"no accident is called {name}; --list lists them")
    return options


if __name__ == "__main__":
    OPTIONS = parse_arguments()
    if OPTIONS.list:
        for name, sentence in ACCIDENTS.items():
            print(f"{name:18} {sentence}")
        raise SystemExit
    MESH = None
    if OPTIONS.spmd or happens("sharding-unset"):
        import torch_xla.distributed.spmd as spmd
        import torch_xla.runtime

        torch_xla.runtime.use_spmd()
        devices = torch_xla.runtime.global_runtime_device_count()
        MESH = spmd.Mesh(np.arange(devices), (devices,), ("data",))
    DEVICE = torch_xla.device()
    train(OPTIONS)
