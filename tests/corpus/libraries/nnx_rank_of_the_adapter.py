# cause: shape
# subject: model.adapter...
# program: jit_train_step
# reason: a sweep over the rank of the low-rank weights; only they are trained

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Tuned(nnx.Module):
    def __init__(self, rank, rngs):
        self.body = nnx.Linear(5, 8, rngs=rngs)
        self.head = nnx.Linear(8, 3, rngs=rngs)
        self.adapter = nnx.LoRA(8, rank, 3, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.body(x))
        return self.head(x) + self.adapter(x)


@nnx.jit
def train_step(model, optimizer, x, labels):
    def loss_fn(model):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    only = nnx.DiffState(0, nnx.LoRAParam)
    loss, grads = nnx.value_and_grad(loss_fn, argnums=only)(model)
    optimizer.update(model, grads)
    return loss


def trial(rank, x, labels):
    model = Tuned(rank, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.LoRAParam)
    for _ in range(3):
        loss = train_step(model, optimizer, x, labels)  # <- cause
    return float(loss)


rng = np.random.default_rng(0)
x = rng.normal(size=(9, 5)).astype(np.float32)
labels = rng.integers(0, 3, 9).astype(np.int32)
print({rank: trial(rank, x, labels) for rank in (2, 4)})
