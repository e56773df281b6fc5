# cause: shape
# old: u32[10,2]
# new: u32[14,2]
# program: jit_scan

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    return -0.5 * jnp.sum((x - 1.0) ** 2)


def tune(steps):
    warmup = blackjax.window_adaptation(blackjax.hmc, logdensity, num_integration_steps=2)
    (state, parameters), _ = warmup.run(jax.random.PRNGKey(0), jnp.zeros(2), num_steps=steps)  # <- cause
    return parameters


tune(10)
tune(14)
