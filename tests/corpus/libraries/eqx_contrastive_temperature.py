# cause: constant
# old: 0.1
# new: 0.07
# reason: filter_jit makes the Python float static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Tower(eqx.Module):
    layers: list

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.layers = [eqx.nn.Linear(10, 16, key=one), eqx.nn.Linear(16, 8, key=two)]

    def __call__(self, x):
        x = self.layers[1](jax.nn.relu(self.layers[0](x)))
        return x / jnp.linalg.norm(x)


def info_nce(model, views, others, temperature):
    a, b = jax.vmap(model)(views), jax.vmap(model)(others)
    logits = a @ b.T / temperature  # <- cause
    targets = jnp.arange(len(views))
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


@eqx.filter_jit
def evaluate(model, views, others, temperature):
    return info_nce(model, views, others, temperature)


rng = np.random.default_rng(1)
model = eqx.filter_jit(Tower)(jax.random.key(0))
views = rng.normal(size=(6, 10)).astype(np.float32)
others = views + 0.1 * rng.normal(size=views.shape).astype(np.float32)
for temperature in (0.1, 0.07):
    for _ in range(2):
        loss = evaluate(model, views, others, temperature)  # <- call
    print(temperature, float(loss))
