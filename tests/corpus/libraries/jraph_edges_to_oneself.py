# cause: structure
# reason: an option joins each node to itself; the edges are more from there on

import functools

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def add_self(ends, count):
    return jnp.concatenate([ends, jnp.arange(count)])  # <- cause


@functools.partial(jax.jit, static_argnames="with_self")
def convolve(weights, nodes, senders, receivers, with_self):
    count = nodes.shape[0]
    if with_self:
        senders, receivers = add_self(senders, count), add_self(receivers, count)
    hidden = jnp.tanh(nodes @ weights)
    degree = jraph.segment_sum(jnp.ones_like(receivers, jnp.float32), receivers, count)
    hidden = hidden * jax.lax.rsqrt(jnp.maximum(degree, 1.0))[:, None]
    return jraph.segment_sum(hidden[senders], receivers, count)


index = np.arange(5, dtype=np.int32)
weights, nodes = np.ones((3, 4), np.float32), np.ones((5, 3), np.float32)
for with_self in (False, True):
    convolve(weights, nodes, index, np.roll(index, 1), with_self=with_self)  # <- call
