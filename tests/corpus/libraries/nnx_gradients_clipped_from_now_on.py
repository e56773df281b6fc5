# cause: structure
# reason: a flag of the run turns clipping on; the gradients' norm is then computed

import functools

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


@functools.partial(nnx.jit, static_argnames="clip")
def train_step(model, x, clip):
    loss, grads = nnx.value_and_grad(lambda model: jnp.sum(model(x) ** 2))(model)
    if clip:
        norm = optax.global_norm(grads)  # <- cause
    else:
        norm = 1.0
    return loss / norm


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((3, 4), np.float32)
train_step(model, x, clip=False)
train_step(model, x, clip=True)  # <- call
