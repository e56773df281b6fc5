# cause: constant
# subject: temperature
# old: 0.5
# new: 0.75
# pattern: counter
# program: jit_step_fn
# advice: array

import blackjax
import jax
import jax.numpy as jnp


def tempered(temperature):
    def logdensity(x):
        energy = jnp.sum(jnp.cos(x) + x ** 2)
        return -energy * temperature  # <- cause
    return logdensity


state = None
for temperature in (0.125, 0.25, 0.5, 0.75):
    kernel = blackjax.mala(tempered(temperature), 0.1)
    state = kernel.init(jnp.ones(2))
    state, _ = jax.jit(kernel.step)(jax.random.key(3), state)  # <- call
