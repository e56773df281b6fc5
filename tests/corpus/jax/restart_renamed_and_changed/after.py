import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(w, x):
    return jnp.tanh(x @ w) * 0.25  # <- cause


train_step(np.ones((4, 3), np.float32), np.ones((2, 4), np.float32))  # <- call
