# cause: structure
# subject: config['absolute']
# old: False
# new: True

import jax
import jax.numpy as jnp
import numpy as np

config = {"absolute": False}


def preprocess(x):
    if config["absolute"]:
        x = jnp.abs(x)  # <- cause
    return x


def model(w, x):
    return jnp.tanh(preprocess(x) @ w)


def step(w, x):
    return model(w, x).sum()


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
jax.jit(step)(w, x)
config["absolute"] = True
jax.clear_caches()
jax.jit(step)(w, x)  # <- call
