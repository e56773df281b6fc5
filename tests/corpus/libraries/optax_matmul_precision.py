# cause: precision
# subject: jax_default_matmul_precision
# old: unset
# new: 'highest'

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@jax.jit
def update(params, x):
    def loss(params):
        hidden = x @ params  # <- cause
        return jnp.mean(hidden ** 2)

    updates, _ = optimizer.update(jax.grad(loss)(params), optimizer.init(params))
    return optax.apply_updates(params, updates)


x, params = np.ones((4, 3), np.float32), np.ones((3, 2), np.float32)
update(params, x)
with jax.default_matmul_precision("highest"):
    update(params, x)  # <- call
