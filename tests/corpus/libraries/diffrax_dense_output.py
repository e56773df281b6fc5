# cause: structure
# run: EQX_ON_ERROR=nan
# reason: for the plot the solution is kept whole, so that it can be evaluated anywhere

import diffrax
import jax.numpy as jnp


def field(t, y, args):
    return args * y * (1 - y)


def solve(saveat):
    return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 2.0, 0.1,  # <- cause
                               jnp.full(2, 0.1), args=jnp.float32(1.5), saveat=saveat, max_steps=64)


print(solve(diffrax.SaveAt(t1=True)).ys)
print(solve(diffrax.SaveAt(dense=True)).evaluate(jnp.float32(1.0)))
