import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, b, real):
    scores = jax.nn.sigmoid(real @ w + b)
    return -jnp.mean(jnp.log(scores + 1e-3))


def run(real):
    step(np.ones(4, np.float32), np.float32(0.5), real)  # <- cause
