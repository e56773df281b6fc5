# cause: stable
# reason: the loads of the experts are sown and taken off, the metrics live in arrays, two functions take turns

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Experts(nnx.Module):
    def __init__(self, rngs):
        self.router = nnx.Linear(6, 3, use_bias=False, rngs=rngs)
        self.up = nnx.Param(jax.random.normal(rngs.params(), (3, 6, 8)) * 0.1)
        self.down = nnx.Param(jax.random.normal(rngs.params(), (3, 8, 6)) * 0.1)
        self.head = nnx.Linear(6, 4, rngs=rngs)

    def __call__(self, x):
        gates = nnx.softmax(self.router(x))
        best, chosen = jax.lax.top_k(gates, 2)
        weights = jnp.sum(nnx.one_hot(chosen, 3) * best[..., None], axis=1)
        self.sow(nnx.Intermediate, "load", weights.mean(0))
        hidden = nnx.gelu(jnp.einsum("bi,eio->beo", x, self.up[...]))
        mixed = jnp.einsum("beo,eoi,be->bi", hidden, self.down[...], weights)
        return self.head(x + mixed)


def loss_fn(model, x, labels):
    logits = model(x)
    load = nnx.pop(model, nnx.Intermediate)["load"][0]
    balance = 3 * jnp.sum(load ** 2)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss + 0.01 * balance, logits


@nnx.jit
def train_step(model, optimizer, metrics, x, labels):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, labels)
    metrics.update(loss=loss, logits=logits, labels=labels)
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, x, labels):
    loss, logits = loss_fn(model, x, labels)
    metrics.update(loss=loss, logits=logits, labels=labels)


model = nnx.jit(lambda: Experts(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
x, labels = np.ones((5, 6), np.float32), np.array([0, 1, 2, 3, 0], np.int32)
for epoch in range(2):
    for function in (lambda: train_step(model, optimizer, metrics, x, labels),
                     lambda: eval_step(model, metrics, x, labels)):
        for _ in range(2):
            function()
        print(epoch, {name: float(value) for name, value in metrics.compute().items()})
        metrics.reset()
