# cause: structure
# program: jit_embed
# reason: the layers are unrolled by Python

import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def propagate(x, senders, receivers):
    return jnp.tanh(jraph.segment_mean(x[senders], receivers, x.shape[0]))


@functools.partial(jax.jit, static_argnums=3)
def embed(x, senders, receivers, hops):
    for _ in range(hops):
        x = x + propagate(x, senders, receivers)
    return x


x, ring = np.ones((4, 3), np.float32), np.arange(4, dtype=np.int32)
embed(x, ring, ring[::-1].copy(), 2)
embed(x, ring, ring[::-1].copy(), 3)  # <- call
