# cause: size
# old: 3
# new: 4
# reason: how many classes there are is counted in the labels of each evaluation, and is static

import functools

import jax.numpy as jnp
import numpy as np
from flax import nnx


@functools.partial(nnx.jit, static_argnames="classes")
def confusion(model, x, labels, classes):
    predicted = model(x).argmax(-1)
    table = jnp.zeros((classes, classes), jnp.int32)  # <- cause
    return table.at[labels, predicted].add(1)


model = nnx.Linear(5, 4, rngs=nnx.Rngs(0))
x = np.ones((6, 5), np.float32)
for labels in (np.array([0, 1, 2, 2, 1, 0]), np.array([0, 1, 2, 3, 1, 0])):
    confusion(model, x, labels, classes=len(np.unique(labels)))  # <- call
