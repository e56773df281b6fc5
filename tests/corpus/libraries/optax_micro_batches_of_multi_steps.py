# cause: constant
# reason: how many micro steps make a step is baked into the update
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax


def train(every):
    optimizer = optax.MultiSteps(optax.sgd(0.1), every_k_schedule=every)

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return update(params, jax.jit(optimizer.init)(params), x)  # <- call


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
train(2)
train(5)
