# cause: constant
# subject: decay
# old: 0.9
# new: 0.8
# reason: 1 - decay, which is baked in too, follows from it
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax


def search(momentum):
    optimizer = optax.ema(momentum, debias=False)

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        smooth, opt_state = optimizer.update(grads, opt_state)  # <- cause
        return params - 0.1 * smooth, opt_state

    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(2):
        update(params, opt_state, x)  # <- call


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
search(0.9)
search(0.8)
