# cause: shape
# subject: x
# old: f32[16,6]
# new: f32[5,6]
# reason: the last batch is short, and short batches take another way through the loss

import jax
import jax.numpy as jnp
import numpy as np


def smoothed(logits, y):
    target = jax.nn.one_hot(y, 4) * 0.9 + 0.025
    return optimal(logits, target)


def optimal(logits, target):
    return -(target * jax.nn.log_softmax(logits)).sum(-1)


@jax.jit
def step(w, x, y):
    def loss(w):
        logits = x @ w
        if len(x) < 8:
            per_row = optimal(logits, jax.nn.one_hot(y, 4))
            return per_row.sum() / 8
        top = jnp.sort(smoothed(logits, y))[2:]
        return top.mean()

    return w - 0.1 * jax.grad(loss)(w)


rng = np.random.default_rng(0)
data = rng.normal(size=(53, 6)).astype(np.float32)
labels = rng.integers(0, 4, size=53)
w = jnp.zeros((6, 4))
for start in range(0, 53, 16):
    w = step(w, data[start : start + 16], labels[start : start + 16])  # <- cause
print(float(w.sum()))
