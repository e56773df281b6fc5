# cause: constant
# subject: step_size
# old: -0.1
# new: -0.01

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Linear(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


@nnx.jit
def train_step(model, optimizer, x):
    def loss_fn(model):
        return jnp.mean(model(x) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)  # <- cause
    return loss


def finetune(model, rate):
    optimizer = nnx.Optimizer(model, optax.sgd(rate), wrt=nnx.Param)
    for _ in range(2):
        train_step(model, optimizer, x)  # <- call


x = np.ones((3, 4), np.float32)
model = nnx.jit(Linear)(nnx.Rngs(0))
finetune(model, 0.1)
finetune(model, 0.01)
