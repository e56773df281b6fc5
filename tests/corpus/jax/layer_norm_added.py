# cause: structure
# subject: model.normalise
# old: False
# new: True

import jax
import jax.numpy as jnp
import numpy as np


def norm(x):
    mean = x.mean(-1, keepdims=True)  # <- cause
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


class Model:
    def __init__(self, normalise):
        self.normalise = normalise

    def __call__(self, w, x):
        if self.normalise:
            x = norm(x)
        return jnp.tanh(x @ w)


def make_step(model):
    def step(w, x):
        return model(w, x).sum()
    return jax.jit(step)


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
make_step(Model(False))(w, x)
make_step(Model(True))(w, x)  # <- call
