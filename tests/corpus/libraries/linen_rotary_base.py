# cause: constant
# old: 10000.0
# new: 500000.0
# reason: for longer texts the base of the rotary angles is raised; it is a number of the configuration

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


def rotate(x, positions, base):
    half = x.shape[-1] // 2
    timescale = base ** (jnp.arange(half) / half)  # <- cause
    angles = positions[..., None, None] / timescale
    first, second = jnp.split(x, 2, axis=-1)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


class Attention(nn.Module):
    rope_base: float

    @nn.compact
    def __call__(self, x, positions):
        q, k, v = (nn.DenseGeneral((2, 4), use_bias=False, name=name)(x) for name in "qkv")
        q, k = rotate(q, positions, self.rope_base), rotate(k, positions, self.rope_base)
        mask = positions[:, None, :, None] >= positions[:, None, None, :]
        y = nn.dot_product_attention(q, k, v, mask=mask)
        return nn.DenseGeneral(x.shape[-1], axis=(-2, -1), name="out")(y)


@functools.partial(jax.jit, static_argnames="rope_base")
def encode(params, x, positions, rope_base):
    return Attention(rope_base).apply(params, x, positions)


x = np.ones((2, 6, 8), np.float32)
positions = np.tile(np.arange(6, dtype=np.int32), (2, 1))
params = jax.jit(Attention(10_000.0).init)(jax.random.key(0), x, positions)
for rope_base in (10_000.0, 500_000.0):
    encode(params, x, positions, rope_base=rope_base)  # <- call
