"""Trains a small byte-level GPT on real text, in plain JAX.

    python examples/jax/train_gpt.py
    python examples/jax/train_gpt.py --layers 4 --steps 200 --text my_notes.txt

The default text is the language reference that ships inside every CPython. The layers are
unrolled, as in most training code, so the train step is one large program for XLA to compile.
"""

import time

STARTED = time.perf_counter()

import argparse
import functools
import math
import pathlib
import pydoc_data.topics

import jax
import jax.numpy as jnp
import numpy as np

BYTES = 256  # the vocabulary: every value of a byte
HEAD_WIDTH = 64


def parse_arguments():
    parser = argparse.ArgumentParser(description="Train a small byte-level GPT in plain JAX.")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=256, help=f"a multiple of {HEAD_WIDTH}")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--batch", type=int, default=8, help="rows in a batch")
    parser.add_argument("--seq", type=int, default=128, help="bytes in a row")
    parser.add_argument("--epoch", type=int, default=157, help="rows in an epoch")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", type=pathlib.Path, help="train on this file instead")
    arguments = parser.parse_args()
    if arguments.width % HEAD_WIDTH or arguments.width < HEAD_WIDTH:
        parser.error(f"--width {arguments.width}: not a multiple of {HEAD_WIDTH}")
    return arguments


# ------------------------------------------------------------------------------------------- data


def read_text(path):
    """The text as an array of bytes."""
    if path is not None:
        text = path.read_bytes()
    else:
        topics = pydoc_data.topics.topics
        text = "\n\n".join(topics[name] for name in sorted(topics)).encode()
    return np.frombuffer(text, dtype=np.uint8)


def epoch_of_batches(rng, text, rows, batch, seq):
    """Yields `rows` random pieces of the text, `batch` at a time; the last batch has the rest."""
    starts = rng.integers(0, len(text) - seq, size=rows)
    for first in range(0, rows, batch):
        pieces = [text[start : start + seq + 1] for start in starts[first : first + batch]]
        yield np.stack(pieces).astype(np.int32)


# ------------------------------------------------------------------------------------------ model


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def init_params(key, layers, width, seq):
    keys = iter(jax.random.split(key, 2 + 4 * layers))

    def matrix(rows, columns, scale=1.0):
        return jax.random.normal(next(keys), (rows, columns)) * scale / math.sqrt(rows)

    residual = 1 / math.sqrt(2 * layers)  # keeps the residual stream's size at any depth
    return {
        "embed": matrix(BYTES, width),
        "position": matrix(seq, width),
        "blocks": [
            {
                "attention_norm": jnp.ones(width),
                "qkv": matrix(width, 3 * width),
                "project": matrix(width, width, residual),
                "mlp_norm": jnp.ones(width),
                "up": matrix(width, 4 * width),
                "down": matrix(4 * width, width, residual),
            }
            for _ in range(layers)
        ],
        "final_norm": jnp.ones(width),
    }


def rms_norm(x, weight):
    return x * weight * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def attention(block, x):
    rows, seq, width = x.shape
    heads = width // HEAD_WIDTH

    def split_heads(a):
        return a.reshape(rows, seq, heads, HEAD_WIDTH).swapaxes(1, 2)

    q, k, v = (split_heads(a) for a in jnp.split(x @ block["qkv"], 3, axis=-1))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(HEAD_WIDTH)
    past = jnp.tril(jnp.ones((seq, seq), dtype=bool))
    weights = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=-1)
    mixed = (weights @ v).swapaxes(1, 2).reshape(rows, seq, width)
    return mixed @ block["project"]


def mlp(block, x):
    return jax.nn.gelu(x @ block["up"]) @ block["down"]


def gpt(params, tokens):
    """The logits of the byte that follows each byte: [rows, seq] to [rows, seq, BYTES]."""
    x = params["embed"][tokens] + params["position"][: tokens.shape[1]]
    for block in params["blocks"]:
        x = x + attention(block, rms_norm(x, block["attention_norm"]))
        x = x + mlp(block, rms_norm(x, block["mlp_norm"]))
    return rms_norm(x, params["final_norm"]) @ params["embed"].T


def loss_of(params, batch):
    """Mean cross-entropy in nats per byte."""
    inputs, targets = batch[:, :-1], batch[:, 1:]
    log_probs = jax.nn.log_softmax(gpt(params, inputs), axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_probs, targets[..., None], axis=-1))


# --------------------------------------------------------------------------------------- training


def adamw_init(params):
    return {
        "mean": jax.tree.map(jnp.zeros_like, params),
        "square": jax.tree.map(jnp.zeros_like, params),
        "step": jnp.zeros((), jnp.int32),
    }


def adamw(params, grads, state, learning_rate, b1=0.9, b2=0.95, decay=0.1):
    step = state["step"] + 1
    mean = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["mean"], grads)
    square = jax.tree.map(lambda s, g: b2 * s + (1 - b2) * g * g, state["square"], grads)

    def update(p, m, s):
        direction = m / (1 - b1**step) / (jnp.sqrt(s / (1 - b2**step)) + 1e-8)
        if p.ndim > 1:  # norms keep their weights
            direction = direction + decay * p
        return p - learning_rate * direction

    params = jax.tree.map(update, params, mean, square)
    return params, {"mean": mean, "square": square, "step": step}


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, state, batch, learning_rate):
    loss, grads = jax.value_and_grad(loss_of)(params, batch)
    params, state = adamw(params, grads, state, learning_rate)
    return params, state, loss


def main():
    arguments = parse_arguments()
    text = read_text(arguments.text)
    if len(text) <= arguments.seq:
        raise SystemExit(f"{arguments.text}: shorter than one row; lower --seq")
    rng = np.random.default_rng(arguments.seed)

    params = init_params(
        jax.random.key(arguments.seed), arguments.layers, arguments.width, arguments.seq
    )
    state = jax.jit(adamw_init)(params)
    weights = sum(p.size for p in jax.tree.leaves(params))
    print(f"{weights / 1e6:.1f} M weights, {len(text) / 1e3:.0f} kB of text, {jax.devices()[0]}")

    step = 0
    while step < arguments.steps:
        for batch in epoch_of_batches(rng, text, arguments.epoch, arguments.batch, arguments.seq):
            warmup = min(1.0, (step + 1) / 10)
            params, state, loss = train_step(params, state, batch, arguments.learning_rate * warmup)
            step += 1
            if step == 1:
                loss.block_until_ready()
                print(f"time to first step: {time.perf_counter() - STARTED:.2f} s", flush=True)
            if step == 1 or step % 4 == 0:
                print(f"step {step:4d}  loss {loss:.4f}", flush=True)
            if step == arguments.steps:
                break

    print(f"final loss: {loss:.6f}")
    print(f"total: {time.perf_counter() - STARTED:.1f} s")


if __name__ == "__main__":
    main()
