# cause: structure
# reason: the second trial looks ahead with its momentum

import jax
import jax.numpy as jnp
import numpy as np
import optax


def trial(optimizer, params, x):
    opt_state = optimizer.init(params)

    @jax.jit
    def step(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"]) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    for _ in range(2):
        params, opt_state = step(params, opt_state, x)  # <- call


params = {"w": jnp.ones((3, 2), jnp.float32)}
for nesterov in (False, True):
    trial(optax.sgd(0.1, momentum=0.9, nesterov=nesterov), params, np.ones((4, 3), np.float32))
