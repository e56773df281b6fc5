import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x, rate):
    return jnp.tanh(x) * rate


step(np.ones(8, np.float32), np.float32(0.5))
