# cause: retrace
# advice: lambda | once
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp

rate = jnp.float32(0.3)


def decay(y0):
    term = diffrax.ODETerm(lambda t, y, args: -args * y)
    return diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.25, y0, args=rate).ys[-1]  # <- cause


y = jnp.array([4.0])
for _ in range(3):
    y = decay(y)
