# cause: constant
# old: 1.0
# new: 1.5
# run: EQX_ON_ERROR=nan

import functools

import jax
import jax.numpy as jnp
from diffrax import Dopri5, ODETerm, diffeqsolve


@functools.partial(jax.jit, static_argnames=["until"])
def loss(rate, y0, until):
    term = ODETerm(lambda t, y, args: -args * y)
    end = diffeqsolve(term, Dopri5(), 0.0, until, 0.1, y0, args=rate).ys[-1]  # <- cause
    return jnp.sum(end ** 2)


rate, y0 = jnp.float32(0.7), jnp.ones(3)
for until in (1.0, 1.5):
    loss(rate, y0, until=until)  # <- call
