# cause: retrace
# advice: None | same | containers
# reason: validation gives no key, training one; the network draws nothing, so the program is the same

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

net = hk.transform(lambda x: hk.nets.MLP([8, 2])(x))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def loss(params, rng, x):
    return jnp.mean(net.apply(params, rng, x) ** 2)


loss(params, jax.random.PRNGKey(1), x)
loss(params, None, x)  # <- cause
