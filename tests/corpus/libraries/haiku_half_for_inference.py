# cause: dtype
# subject: params['linear']['b']
# old: f32[3]
# new: f16[3]

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

net = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(3)(x)))
x = np.ones((2, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def infer(params, x):
    return net.apply(params, x).argmax(axis=-1)


infer(params, x)
params = jax.tree.map(lambda leaf: np.asarray(leaf, np.float16), params)
infer(params, x)  # <- cause
