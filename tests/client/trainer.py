"""A small real training loop in plain JAX: a byte-level network on this file's own text, AdamW, a
jitted step that donates its state, and a last batch that is short. Prints the losses and a digest
of the parameters, bit for bit, as one JSON line."""

import functools
import hashlib
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

WIDTH, CONTEXT, LAYERS = 32, 16, 3


def initial(key):
    keys = jax.random.split(key, LAYERS + 2)
    return {"embed": jax.random.normal(keys[0], (256, WIDTH)) * 0.1,
            "layers": [jax.random.normal(k, (WIDTH, WIDTH)) * 0.1 for k in keys[1:-1]],
            "out": jax.random.normal(keys[-1], (WIDTH, 256)) * 0.1}


def loss_of(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    for w in params["layers"]:
        mixed = jnp.cumsum(x, 1) / jnp.arange(1.0, x.shape[1] + 1)[:, None]
        x = x + jax.nn.gelu(mixed @ w)
    logits = jax.nn.log_softmax(x @ params["out"])
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(params, first, second, count, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, grads)
    params = jax.tree.map(
        lambda p, m, v: p - 1e-2 * (m / (1 - 0.9 ** count) / (
            jnp.sqrt(v / (1 - 0.95 ** count)) + 1e-8) + 0.01 * p), params, first, second)
    return params, first, second, loss


def batches(steps):
    text = np.frombuffer(pathlib.Path(__file__).read_bytes(), np.uint8).astype(np.int32)
    rng = np.random.default_rng(0)
    for i in range(steps):
        starts = rng.integers(0, len(text) - CONTEXT - 1, 5 if i == steps - 1 else 8)
        yield np.stack([text[s:s + CONTEXT + 1] for s in starts])


def main():
    steps = int(sys.argv[1]) if sys.argv[1:] else 6
    params = jax.jit(initial)(jax.random.key(0))
    first, second = (jax.tree.map(jnp.zeros_like, params) for _ in range(2))
    losses = []
    for i, tokens in enumerate(batches(steps)):
        params, first, second, loss = step(params, first, second, np.float32(i + 1), tokens)
        losses.append(np.asarray(loss).tobytes().hex())
    bits = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(params))
    print(json.dumps({"losses": losses, "params": hashlib.sha256(bits).hexdigest()}))


if __name__ == "__main__":
    main()
