# cause: dtype
# old: f32[8,4]
# new: bool[8,4]
import jax
import jax.numpy as jnp
import numpy as np


def run(mask):
    @jax.jit
    def step(x):
        return (jnp.tanh(x) * mask).sum()  # <- cause

    return step(jnp.ones((8, 4)))  # <- call


mask = np.arange(32).reshape(8, 4) % 3 > 0
run(mask.astype(np.float32))
run(mask)
