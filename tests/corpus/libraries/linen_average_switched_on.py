# cause: structure
# reason: from a step of the host on the weights are averaged; without that the average goes through unread

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

model = nn.Dense(3)
optimizer = optax.adam(1e-3)
x = np.ones((4, 5), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)
opt_state = jax.jit(optimizer.init)(params)


@functools.partial(jax.jit, static_argnames="averaging")
def train_step(params, average, opt_state, x, averaging):
    grads = jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    if averaging:
        average = optax.incremental_update(params, average, 0.05)  # <- cause
    return params, average, opt_state


average = params
for step in range(4):
    params, average, opt_state = train_step(  # <- call
        params, average, opt_state, x, averaging=step >= 2)
