# cause: retrace
# advice: once | partial in the loop | __eq__
# reason: a lambda is equal to no other, and filter_jit compares what is not an array

import equinox as eqx
import jax
import numpy as np


def build(key):
    return eqx.nn.MLP(4, 2, 8, 1, activation=lambda x: jax.nn.relu(x), key=key)


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x).sum()


x = np.ones((3, 4), np.float32)
for seed in range(3):
    model = build(jax.random.key(seed))
    forward(model, x)  # <- cause
