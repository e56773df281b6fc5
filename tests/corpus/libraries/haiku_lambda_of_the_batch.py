# cause: constant
# subject: weight
# old: 0.25
# new: 0.75
# reason: a new lambda closes over each value

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

net = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(2)(x)))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)
for weight in (0.25, 0.75):
    objective = jax.jit(
        lambda params, x: jnp.sum(net.apply(params, x)) * weight)  # <- cause
    objective(params, x)  # <- call
