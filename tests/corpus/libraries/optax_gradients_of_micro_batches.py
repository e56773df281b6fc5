# cause: gradient
# old: create
# new: accumulate
# reason: no sum of gradients exists at the first micro-batch

import jax
import jax.numpy as jnp
import numpy as np
import optax

MICRO = 3
optimizer = optax.adamw(1e-2)


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w"])
    return jnp.mean((hidden @ params["v"] - y) ** 2)


@jax.jit
def accumulate(params, total, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    if total is not None:
        grads = jax.tree.map(jnp.add, total, grads)  # <- cause
    return grads


@jax.jit
def apply(params, opt_state, total):
    mean = jax.tree.map(lambda g: g / MICRO, total)
    updates, opt_state = optimizer.update(mean, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


rng = np.random.default_rng(0)
params = {"w": rng.normal(size=(4, 8)).astype(np.float32),
          "v": rng.normal(size=(8, 1)).astype(np.float32)}
opt_state = jax.jit(optimizer.init)(params)
for step in range(3):
    total = None
    for _ in range(MICRO):
        x = rng.normal(size=(5, 4)).astype(np.float32)
        total = accumulate(params, total, x, x[:, :1])  # <- call
    params, opt_state = apply(params, opt_state, total)
print(float(jnp.sum(params["v"])))
