# cause: constant
# subject: cfg.lr
# pattern: counter

import jax, jax.numpy as jnp, numpy as np
from types import SimpleNamespace

cfg = SimpleNamespace(lr=0.1, momentum=0.9)


def train_epoch(w, m, x):
    @jax.jit
    def step(w, m, x):
        g = jax.grad(lambda w: ((x @ w) ** 2).mean())(w)
        m = cfg.momentum * m + g
        return w - cfg.lr * m, m  # <- cause
    for _ in range(2):
        w, m = step(w, m, x)  # <- call
    return w, m


w, m, x = np.ones(4, np.float32), np.zeros(4, np.float32), np.ones((2, 4), np.float32)
for epoch in range(4):
    w, m = train_epoch(w, m, x)
    cfg.lr *= 0.5
