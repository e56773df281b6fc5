# cause: structure
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp


def fall(t, y, args):
    return jnp.stack([y[1], jnp.asarray(-9.8)])


def touches_ground(t, y, args, **kwargs):
    return y[0] < 0.0


def drop(event=None):
    return diffrax.diffeqsolve(diffrax.ODETerm(fall), diffrax.Heun(), 0.0, 2.0, 0.01,  # <- cause
                               jnp.array([1.0, 0.0]), event=event)


drop()
drop(diffrax.Event(touches_ground))
