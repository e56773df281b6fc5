# cause: shape
# subject: cache['MultiHeadDotProductAttention_0']['cached_key']
# old: f32[1,8,2,4]
# new: f32[1,12,2,4]
# program: jit_decode

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.MultiHeadDotProductAttention(num_heads=2, decode=True)(x)


model = Decoder()


def prefill(length):
    variables = jax.jit(model.init)(jax.random.key(0), np.ones((1, length, 8), np.float32))
    return variables["params"], variables["cache"]


@jax.jit
def decode(params, cache, x):
    y, updated = model.apply({"params": params, "cache": cache}, x, mutable=["cache"])
    return y, updated["cache"]


token = np.ones((1, 1, 8), np.float32)
for limit in (8, 12):
    params, cache = prefill(limit)
    for _ in range(2):
        y, cache = decode(params, cache, token)  # <- cause
