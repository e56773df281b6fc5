# cause: size
# old: 5
# new: 9
# program: jit_step_fn

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


class Posterior:
    def __init__(self, observed):
        self.observed = observed

    def logdensity(self, mean):
        return -0.5 * jnp.sum((mean - self.observed) ** 2)  # <- cause


def update(observed):
    posterior = Posterior(observed)
    sampler = blackjax.mala(posterior.logdensity, 0.1)
    return jax.jit(sampler.step)(jax.random.key(0), sampler.init(jnp.float32(0.0)))  # <- call


update(np.arange(5, dtype=np.float32))
update(np.arange(9, dtype=np.float32))
