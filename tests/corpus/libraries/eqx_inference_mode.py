# cause: structure

import equinox as eqx
import jax
import numpy as np


class Net(eqx.Module):
    first: eqx.nn.Linear
    dropout: eqx.nn.Dropout
    last: eqx.nn.Linear

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.first = eqx.nn.Linear(4, 8, key=one)
        self.dropout = eqx.nn.Dropout(0.5)
        self.last = eqx.nn.Linear(8, 2, key=two)

    def __call__(self, x, key):
        x = jax.nn.relu(self.first(x))
        x = self.dropout(x, key=key)  # <- cause
        return self.last(x)


@eqx.filter_jit
def evaluate(model, x, key):
    keys = jax.random.split(key, x.shape[0])
    return jax.vmap(model)(x, keys)


model = Net(jax.random.key(0))
x, key = np.ones((3, 4), np.float32), jax.random.key(1)
evaluate(model, x, key)
evaluate(eqx.nn.inference_mode(model), x, key)  # <- call
