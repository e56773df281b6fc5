# cause: constant
# subject: rate
# old: 0.1
# new: 0.05
# advice: asarray | array
# reason: filter_jit makes a Python number static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def train(model, x, rate):
    grads = eqx.filter_grad(lambda model: jnp.mean(jax.vmap(model)(x) ** 2))(model)
    return jax.tree.map(
        lambda p, g: p - rate * g, model, grads)  # <- cause


model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
x = np.ones((3, 4), np.float32)
for rate in (0.1, 0.05):
    model = train(model, x, rate)  # <- call
