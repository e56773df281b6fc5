# cause: shape
# subject: params['w1']
# old: f32[4,8]
# new: f32[4,16]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def build(width):
    return {"w1": np.ones((4, width), np.float32), "w2": np.ones((width, 2), np.float32)}


x = np.ones((2, 4), np.float32)
step(build(8), x)
step(build(16), x)  # <- cause
