# cause: constant
# reason: the labels come from a file as Python integers; filter_jit makes them static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def loss(model, x, labels):
    log_probs = jax.nn.log_softmax(jax.vmap(model)(x))
    picked = jax.nn.one_hot(jnp.asarray(labels), 3) * log_probs  # <- cause
    return -picked.sum(-1).mean()


model = eqx.nn.MLP(4, 3, 8, 1, key=jax.random.key(0))
x = np.ones((4, 4), np.float32)
for line in ("0 1 2 2", "2 0 1 1"):
    loss(model, x, [int(word) for word in line.split()])  # <- call
