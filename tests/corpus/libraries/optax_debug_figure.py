# cause: structure
# reason: a switch for debugging adds a figure to the step

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


@functools.partial(jax.jit, static_argnames="debug")
def update(params, x, debug=False):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    if debug:
        loss = loss + optax.global_norm(grads)  # <- cause
    return params - 0.1 * grads, loss


x, params = np.ones((4, 3), np.float32), np.ones(3, np.float32)
update(params, x)
update(params, x, debug=True)  # <- call
