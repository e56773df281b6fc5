# cause: structure
# reason: the micro-batches of a step are a Python loop over a static number

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


@functools.partial(jax.jit, static_argnames="micro")
def train_step(params, opt_state, x, micro):
    total = jnp.zeros_like(params)
    for part in range(micro):
        total += jax.grad(loss)(params, x[2 * part : 2 * part + 2])  # <- cause
    updates, opt_state = optimizer.update(total, opt_state)
    return optax.apply_updates(params, updates), opt_state


params, x = np.ones(3, np.float32), np.ones((8, 3), np.float32)
opt_state = optimizer.init(params)
for micro in (2, 2, 4):
    params, opt_state = train_step(params, opt_state, x, micro)  # <- call
