# cause: shape
# subject: opt_state...
# program: jit_update
# reason: the memory is kept in the state of the optimizer: one row for each pair it remembers

import jax
import jax.numpy as jnp
import numpy as np
import optax


def loss(params):
    return jnp.sum((params - 1.0) ** 2) + jnp.sum(params ** 4)


def fit(memory):
    optimizer = optax.lbfgs(1.0, memory_size=memory, linesearch=None)

    @jax.jit
    def update(params, opt_state):
        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    params = np.zeros(3, np.float32)
    opt_state = optimizer.init(params)
    for _ in range(2):
        params, opt_state = update(params, opt_state)  # <- cause


fit(4)
fit(6)
