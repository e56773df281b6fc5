# cause: retrace
# reason: the module counts its steps in a Python number, which nothing that is traced uses

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Ranker(nnx.Module):
    def __init__(self, rngs):
        self.query = nnx.Linear(12, 16, rngs=rngs)
        self.item = nnx.Linear(8, 16, rngs=rngs)
        self.batches_seen = 0

    def __call__(self, queries, items):
        return (self.query(queries) * self.item(items)).sum(-1)


def loss_fn(model, batch):
    scores = model(batch["queries"], batch["items"])
    return optax.sigmoid_binary_cross_entropy(scores, batch["clicked"]).mean()


@nnx.jit
def train_step(model, optimizer, batch):
    loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
    optimizer.update(model, grads)
    return loss


def clicks(count):
    rng = np.random.default_rng(7)
    for _ in range(count):
        yield {"queries": rng.normal(size=(8, 12)).astype(np.float32),
               "items": rng.normal(size=(8, 8)).astype(np.float32),
               "clicked": (rng.random(8) > 0.5).astype(np.float32)}


model = nnx.jit(lambda: Ranker(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
for batch in clicks(5):
    loss = train_step(model, optimizer, batch)  # <- cause
    model.batches_seen += 1
print(model.batches_seen, float(loss))
