# cause: stable
# reason: the rate is an array of the state, and set as one

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=0.1)


@jax.jit
def update(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


x, params = np.ones((4, 3), np.float32), jnp.ones(3)
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    opt_state.hyperparams["learning_rate"] = jnp.asarray(0.1 / (epoch + 1), jnp.float32)
    for _ in range(2):
        params, opt_state = update(params, opt_state, x)
