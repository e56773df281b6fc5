# cause: gradient
# subject: grads['w1']
# old: create
# new: accumulate

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"]) ** 2)


@jax.jit
def step(params, grads, x):
    new = jax.grad(loss)(params, x)
    if grads is None:
        return new
    return jax.tree.map(lambda a, b: a + b, grads, new)  # <- cause


params = {"w1": np.ones((4, 3), np.float32), "w2": np.ones((3, 2), np.float32)}
x = np.ones((8, 4), np.float32)
grads = None
for _ in range(3):
    grads = step(params, grads, x)  # <- call
