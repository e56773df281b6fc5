# cause: shape
# subject: batch['x']
# old: f32[4,3]
# new: f32[6,3]
# run: 4
# run: 6

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(1e-3)


def main(size):
    @jax.jit
    def update(params, opt_state, batch):
        grads = jax.grad(lambda p: jnp.mean((batch["x"] @ p) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    params = np.ones(3, np.float32)
    opt_state = jax.jit(optimizer.init)(params)
    for _ in range(3):
        batch = {"x": np.ones((size, 3), np.float32)}
        params, opt_state = update(params, opt_state, batch)  # <- cause


main(int(sys.argv[1]))
