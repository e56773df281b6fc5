# cause: constant
# program: jit_update
# reason: how often the slow weights follow is a number of the optimizer

import jax
import jax.numpy as jnp
import numpy as np
import optax


def train(period):
    optimizer = optax.lookahead(optax.sgd(0.1), sync_period=period, slow_step_size=0.5)

    @jax.jit
    def update(params, opt_state, x):
        grads = jax.grad(lambda p: jnp.mean(jnp.sin(x @ p) ** 2))(params.fast)
        updates, opt_state = optimizer.update(grads, opt_state, params)  # <- cause
        return optax.apply_updates(params, updates), opt_state

    params = optax.LookaheadParams.init_synced(jnp.ones((3, 2)))
    opt_state = optimizer.init(params)
    for _ in range(2):
        params, opt_state = update(params, opt_state, x)  # <- call


x = np.ones((4, 3), np.float32)
for period in (3, 5):
    train(period)
