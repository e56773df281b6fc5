"""A small GPT with AdamW, for TorchTPU or plain PyTorch: gpt.py DEVICE MODE. Prints a loss for each step.

DEVICE: tpu or cpu. MODE: eager, fuse (TorchTPU's deferred mode) or compile (the forward pass and the loss)."""

import contextlib
import sys

import torch

VOCABULARY, WIDTH, HEADS, LENGTH, ROWS, STEPS = 64, 32, 4, 16, 4, 6


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.heads, self.mix = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.widen, self.narrow = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        rows, length, _ = x.shape
        split = self.heads(self.before(x)).view(rows, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        mixed = scores.masked_fill(later, -1e9).softmax(-1) @ value
        x = x + self.mix(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.narrow(torch.nn.functional.gelu(self.widen(self.between(x))))


class GPT(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(LENGTH, WIDTH)
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens) + self.place.weight[: tokens.shape[1]]))


def batch(step):
    made = torch.randint(0, VOCABULARY, (ROWS, LENGTH + 1), generator=torch.Generator().manual_seed(step))
    return made[:, :-1].contiguous(), made[:, 1:].contiguous()


def mode_of(name):
    if name != "fuse":
        return contextlib.nullcontext()
    from torch_tpu._internal import execution_mode
    return execution_mode.set_eager_mode(execution_mode.EagerMode.DEFER_AND_FUSE)


def main(device, mode):
    torch.manual_seed(0)
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def loss_of(tokens, targets):
        return torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())

    if mode == "compile":
        loss_of = torch.compile(loss_of, backend="tpu")
    with mode_of(mode):
        for step in range(STEPS):
            tokens, targets = (part.to(device) for part in batch(step))
            optimizer.zero_grad()
            loss = loss_of(tokens, targets)
            loss.backward()
            optimizer.step()
            print(f"loss {loss.detach().item():.6f}", flush=True)


main(*sys.argv[1:])
