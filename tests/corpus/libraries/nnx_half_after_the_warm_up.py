# cause: dtype
# old: None
# new: bfloat16
# reason: after a warm-up in float32 the layers are set to compute in bfloat16; the parameters stay

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(6, 12, rngs=rngs)
        self.out = nnx.Linear(12, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.hidden(x))  # <- cause
        return self.out(x).astype(jnp.float32)


def compute_in(model, dtype):
    for _, module in nnx.iter_modules(model):
        if isinstance(module, nnx.Linear):
            module.dtype = dtype


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


WARM_UP = 2
model = nnx.jit(lambda: Classifier(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
rng = np.random.default_rng(0)
for step in range(5):
    if step == WARM_UP:
        compute_in(model, jnp.bfloat16)
    x = rng.normal(size=(8, 6)).astype(np.float32)
    y = rng.integers(0, 4, 8).astype(np.int32)
    loss = train_step(model, optimizer, x, y)  # <- call
print(float(loss))
