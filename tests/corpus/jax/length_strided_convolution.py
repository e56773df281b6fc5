# cause: shape
# subject: audio
# old: f32[2,160,1]
# new: f32[2,121,1]

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def loss(kernel, audio):
    y = lax.conv_general_dilated(audio, kernel, (4,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    return jnp.mean(jnp.square(y - y.mean(axis=1, keepdims=True)))


@jax.jit
def step(kernel, audio):
    return kernel - 0.1 * jax.grad(loss)(kernel, audio)


kernel = np.ones((9, 1, 6), np.float32)
step(kernel, np.ones((2, 160, 1), np.float32))
step(kernel, np.ones((2, 121, 1), np.float32))  # <- cause
