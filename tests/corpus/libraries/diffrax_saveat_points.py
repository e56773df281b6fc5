# cause: shape
# subject: saveat.subs.ts
# old: f32[5]
# new: f32[8]
# program: jit_diffeqsolve
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp

term = diffrax.ODETerm(lambda t, y, args: jnp.stack([y[1], -y[0]]))


def simulate(times):
    return diffrax.diffeqsolve(  # <- cause
        term,
        diffrax.Dopri5(),
        t0=0.0,
        t1=1.0,
        dt0=0.1,
        y0=jnp.array([1.0, 0.0]),
        saveat=diffrax.SaveAt(ts=times),
    ).ys


simulate(jnp.linspace(0.0, 1.0, 5))
simulate(jnp.linspace(0.0, 1.0, 8))
