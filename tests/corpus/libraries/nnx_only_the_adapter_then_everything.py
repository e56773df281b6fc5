# cause: structure
# subject: optimizer.wrt
# old: LoRAParam
# new: Param
# reason: what is differentiated decides what the gradient of this line computes

import numpy as np
import optax
from flax import nnx


class Adapted(nnx.Module):
    def __init__(self, rngs):
        self.base = nnx.Linear(5, 5, rngs=rngs)
        self.adapter = nnx.LoRA(5, 2, 5, rngs=rngs)
        self.head = nnx.Linear(5, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.base(x) + self.adapter(x)))  # <- cause


def make_step(wrt):
    @nnx.jit
    def step(model, optimizer, x, y):
        def loss_fn(model):
            return optax.l2_loss(model(x), y).mean()

        loss, grads = nnx.value_and_grad(loss_fn, argnums=nnx.DiffState(0, wrt))(model)
        optimizer.update(model, grads)
        return loss

    return step


model = Adapted(nnx.Rngs(0))
x, y = np.ones((3, 5), np.float32), np.zeros((3, 2), np.float32)
for wrt in (nnx.LoRAParam, nnx.Param):
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=wrt)
    step = make_step(wrt)
    for _ in range(2):
        step(model, optimizer, x, y)  # <- call
