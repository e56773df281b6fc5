import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.tanh(x) * 0.5


def run():
    step(np.ones(8, np.float32))
