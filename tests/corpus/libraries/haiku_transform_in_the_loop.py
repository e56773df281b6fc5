# cause: retrace
# advice: once | partial in the loop | __eq__

import haiku as hk
import jax
import numpy as np


def network(x):
    return jax.nn.softmax(hk.Linear(3)(x))


x = np.ones((2, 4), np.float32)
params = jax.jit(hk.transform(network).init)(jax.random.PRNGKey(0), x)
for _ in range(3):
    net = hk.without_apply_rng(hk.transform(network))
    jax.jit(net.apply)(params, x)  # <- cause
