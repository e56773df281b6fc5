# cause: arguments
# subject: mask
# old: absent
# new: bool[1,1,5,5]

import haiku as hk
import jax
import numpy as np


def attend(x, mask=None):
    attention = hk.MultiHeadAttention(
        num_heads=2, key_size=4, w_init=hk.initializers.VarianceScaling(1.0))
    return attention(x, x, x, mask=mask)


net = hk.without_apply_rng(hk.transform(attend))
x = np.ones((1, 5, 8), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def encode(params, x, mask):
    return net.apply(params, x, mask)


encode(params, x, None)
encode(params, x, np.tril(np.ones((1, 1, 5, 5), bool)))  # <- cause
