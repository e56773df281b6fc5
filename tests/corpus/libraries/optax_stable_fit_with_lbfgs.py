# cause: stable

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.lbfgs(memory_size=3, linesearch=None)


def loss(params):
    return jnp.sum((params - jnp.arange(3.0)) ** 2)


@jax.jit
def update(params, opt_state):
    value, grads = jax.value_and_grad(loss)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


params = jnp.zeros(3)
opt_state = jax.jit(optimizer.init)(params)
for _ in range(3):
    params, opt_state, value = update(params, opt_state)
print(float(value))
