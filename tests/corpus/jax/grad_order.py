# cause: structure
# subject: order
# old: 1
# new: 2

import functools

import jax
import jax.numpy as jnp
import numpy as np


def energy(x):
    return jnp.sin(x) * x  # <- cause


@functools.partial(jax.jit, static_argnames="order")
def step(x, order):
    function = energy
    for _ in range(order):
        function = jax.grad(function)
    return function(x)


x = np.float32(0.5)
step(x, order=1)
step(x, order=2)  # <- call
