# cause: structure
# reason: of a frozen part no gradient is computed; it is computed where the model is called

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.backbone = nnx.Linear(4, 8, rngs=rngs)
        self.head = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        features = nnx.tanh(self.backbone(x))  # <- cause
        return self.head(features)


def make_step(trained):
    @nnx.jit
    def train_step(model, x):
        def loss_fn(model):
            return jnp.mean(model(x) ** 2)

        grads = nnx.grad(loss_fn, argnums=nnx.DiffState(0, trained))(model)
        return grads

    return train_step


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((3, 4), np.float32)
head_only = nnx.All(nnx.Param, nnx.PathContains("head"))
make_step(nnx.Param)(model, x)
make_step(head_only)(model, x)  # <- call
