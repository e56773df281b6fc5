# cause: constant
# reason: the rate is a Python number of the layer, baked in where the layer draws and where it divides

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    layer: eqx.nn.Linear
    dropout: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.layer = eqx.nn.Linear(4, 8, key=first)
        self.dropout = eqx.nn.Dropout(0.5)
        self.head = eqx.nn.Linear(8, 2, key=second)

    def __call__(self, x, key):
        hidden = jax.nn.relu(self.layer(x))
        return self.head(self.dropout(hidden, key=key))  # <- cause


@eqx.filter_jit
def loss(model, x, keys):
    return jnp.mean(jax.vmap(model)(x, keys) ** 2)


model = Net(jax.random.key(0))
x = np.ones((3, 4), np.float32)
keys = jax.random.split(jax.random.key(1), 3)
for rate in (0.5, 0.25):
    model = eqx.tree_at(lambda m: m.dropout.p, model, rate)
    loss(model, x, keys)  # <- call
