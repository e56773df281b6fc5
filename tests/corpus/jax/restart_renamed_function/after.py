import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(x):
    return jnp.tanh(x) * 0.5


train_step(np.ones(8, np.float32))
