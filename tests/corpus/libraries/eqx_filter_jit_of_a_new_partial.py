# cause: retrace
# advice: once | partial in the loop | __eq__

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def penalty(weight, model, x):
    return weight * jnp.mean(jax.vmap(model)(x) ** 2)


model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
x, weight = np.ones((3, 4), np.float32), np.float32(0.1)
for _ in range(3):
    compiled = eqx.filter_jit(functools.partial(penalty, weight))
    compiled(model, x)  # <- cause
