# cause: constant
# reason: the total of steps is baked into the schedule that the optimizer evaluates
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax


def train(steps):
    schedule = optax.linear_schedule(0.1, 0.0, steps)
    optimizer = optax.sgd(schedule)

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    opt_state = jax.jit(optimizer.init)(params)
    return update(params, opt_state, x)  # <- call


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
train(100)
train(250)
