# cause: constant
# subject: pieces
# old: 2
# new: 4
# reason: how many micro-batches the batch is cut into is the bound of the loop over them, first used in the reshape

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@functools.partial(jax.jit, static_argnames="pieces")
def update(params, batch, pieces):
    micro = batch.reshape(pieces, -1, batch.shape[-1])  # <- cause

    def body(total, x):
        grads = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p) ** 2))(params)
        return total + grads, None

    total, _ = jax.lax.scan(body, jnp.zeros_like(params), micro)
    updates, _ = optimizer.update(total / pieces, optimizer.init(params))
    return optax.apply_updates(params, updates)


batch = np.ones((8, 3), np.float32)
params = np.ones((3, 2), np.float32)
for pieces in (2, 4):
    update(params, batch, pieces=pieces)  # <- call
