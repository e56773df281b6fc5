# cause: size
# old: 4
# new: 7
# reason: linspace counts its steps, one less than its points
# run: EQX_ON_ERROR=nan

import functools

import diffrax
import jax
import jax.numpy as jnp


def field(t, y, args):
    return -y


@functools.partial(jax.jit, static_argnames="count")
def trajectory(y0, count):
    times = jnp.linspace(0.0, 1.0, count)  # <- cause
    saveat = diffrax.SaveAt(ts=times)
    return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Heun(), 0.0, 1.0, 0.1, y0,
                               saveat=saveat).ys


start = jnp.ones(2)
trajectory(start, count=4)
trajectory(start, count=7)  # <- call
