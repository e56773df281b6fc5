# cause: structure
# reason: the loop decides on the host in which steps the gathered gradients are applied

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


@functools.partial(jax.jit, static_argnames="apply")
def micro_step(params, opt_state, total, x, apply):
    grads = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"]) ** 2))(params)
    total = jax.tree.map(jnp.add, total, grads)
    if apply:
        updates, opt_state = optimizer.update(total, opt_state, params)  # <- cause
        params = optax.apply_updates(params, updates)
        total = jax.tree.map(jnp.zeros_like, total)
    return params, opt_state, total


x = np.ones((4, 3), np.float32)
params = {"w": jnp.ones((3, 2))}
opt_state = jax.jit(optimizer.init)(params)
total = {"w": jnp.zeros((3, 2))}
for step in range(4):
    params, opt_state, total = micro_step(  # <- call
        params, opt_state, total, x, apply=step % 2 == 1)
