# cause: structure
# old: 2
# new: 3
# reason: a Python loop over the rounds is unrolled

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def refine(x, rounds):
    layer = hk.Linear(4)
    for _ in range(rounds):
        x = jnp.tanh(layer(x))  # <- cause
    return x


net = hk.without_apply_rng(hk.transform(refine))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init, static_argnums=2)(jax.random.PRNGKey(0), x, 1)


@functools.partial(jax.jit, static_argnames="rounds")
def apply(params, x, rounds):
    return net.apply(params, x, rounds)


apply(params, x, rounds=2)
apply(params, x, rounds=3)  # <- call
