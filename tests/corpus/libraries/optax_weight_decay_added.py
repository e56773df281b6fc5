# cause: structure
# reason: adamw adds the decay to what adam does
# program: jit_update

import jax
import jax.numpy as jnp
import numpy as np
import optax


def run(optimizer):
    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return update(params, jax.jit(optimizer.init)(params), x)  # <- call


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
run(optax.adam(1e-3))
run(optax.adamw(1e-3, weight_decay=1e-2))
