# cause: dtype
# old: f32...
# new: bf16...
# program: jit_train_step
# run: float32
# run: bfloat16
# reason: the layers compute in half precision, the parameters stay as they are

import sys

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, dtype, rngs):
        self.hidden = nnx.Linear(5, 8, dtype=dtype, rngs=rngs)
        self.out = nnx.Linear(8, 3, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        hidden = nnx.relu(self.hidden(x))  # <- cause
        return self.out(hidden).astype(jnp.float32)


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = Net(jnp.dtype(sys.argv[1]), nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
x, y = np.ones((4, 5), np.float32), np.zeros(4, np.int32)
for _ in range(2):
    train_step(model, optimizer, x, y)  # <- call
