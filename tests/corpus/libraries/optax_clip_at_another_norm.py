# cause: constant
# old: 1.0
# new: 0.25

import jax
import jax.numpy as jnp
import numpy as np
import optax


def trainer(limit):
    optimizer = optax.chain(optax.clip_by_global_norm(limit), optax.sgd(0.1))

    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.sum((x @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    return optimizer, jax.jit(update)


x = np.ones((4, 3), np.float32)
for limit in (1.0, 0.25):
    params = np.ones(3, np.float32)
    optimizer, update = trainer(limit)
    update(params, optimizer.init(params), x)  # <- call
