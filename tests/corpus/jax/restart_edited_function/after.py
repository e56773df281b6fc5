import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    hidden = jnp.sin(x @ w)  # <- cause
    return hidden.sum()


def run():
    step(np.ones((4, 3), np.float32), np.ones((2, 4), np.float32))  # <- call
