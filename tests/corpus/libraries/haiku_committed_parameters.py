# cause: sharding
# subject: params['linear']['b']
# advice: device_put
# reason: put on a device by name they are bound to it; the batch never was

import haiku as hk
import jax
import numpy as np

net = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(3)(x)))
x = np.ones((2, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def infer(params, x):
    return net.apply(params, x)


infer(params, x)
params = jax.device_put(params, jax.devices()[0])
infer(params, x)  # <- cause
