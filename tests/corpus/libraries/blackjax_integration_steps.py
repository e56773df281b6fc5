# cause: constant
# old: 4
# new: 8

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

KEY = jax.random.key(0)


def banana(x):
    return -(x[0] ** 2 + 10.0 * (x[1] - x[0] ** 2) ** 2)


for leaps in (4, 8):
    hmc = blackjax.hmc(banana, 1e-2, np.ones(2, np.float32), leaps)
    state = hmc.init(jnp.zeros(2))
    jax.jit(hmc.step)(KEY, state)  # <- cause
