# cause: shape
# subject: keys
# old: u32[4,2]
# new: u32[10,2]
# reason: the uncertainty of the final model is estimated with more samples of the dropout

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    x = jax.nn.relu(hk.Linear(6)(x))
    return hk.Linear(1)(hk.dropout(hk.next_rng_key(), 0.5, x))


net = hk.transform(forward)
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.ones((1, 4), np.float32))


@jax.jit
def spread(params, keys, x):
    outputs = jax.vmap(net.apply, in_axes=(None, 0, None))(params, keys, x)
    return jnp.std(outputs, axis=0)


x = np.ones((3, 4), np.float32)
for samples in (4, 10):
    keys = np.arange(2 * samples, dtype=np.uint32).reshape(samples, 2)
    spread(params, keys, x)  # <- cause
