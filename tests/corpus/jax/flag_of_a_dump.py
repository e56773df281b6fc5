# cause: cache
# subject: dumps
# run:
# run: "XLA_FLAGS=--xla_dump_to=dumps --xla_dump_hlo_pass_re=.*"

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
