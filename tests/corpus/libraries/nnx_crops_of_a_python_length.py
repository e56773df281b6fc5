# cause: size
# old: 4
# new: 6
# reason: how much of the sequence is used is a static number that the curriculum raises

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(3, 5, rngs=rngs)

    def __call__(self, x):
        return jnp.tanh(self.inner(x)).mean(1)


@functools.partial(nnx.jit, static_argnames="length")
def encode(model, x, length):
    return model(x[:, :length])  # <- cause


model = Encoder(nnx.Rngs(0))
x = np.ones((2, 8, 3), np.float32)
for length in (4, 4, 6):
    encode(model, x, length=length)  # <- call
