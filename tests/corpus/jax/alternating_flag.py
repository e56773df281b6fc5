# cause: retrace
# pattern: alternating
# reason: the program of the other flag is in memory still, so the third call asks again for the first

import jax
import jax.numpy as jnp
import numpy as np

flags = {"train": True}


def step(x):
    y = jnp.tanh(x)
    return y * 0.5 if flags["train"] else jnp.sin(y)


x = np.ones(8, np.float32)
for _ in range(6):
    jax.clear_caches()
    jax.jit(step)(x)  # <- cause
    flags["train"] = not flags["train"]
