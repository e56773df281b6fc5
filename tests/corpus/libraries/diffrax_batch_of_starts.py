# cause: shape
# subject: y0s
# old: f32[8,2]
# new: f32[3,2]
# advice: pad | short batch
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def solve(y0):
    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([y[1], -y[0]]))
    return diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.1, y0).ys[0]


@jax.jit
def solve_all(y0s):
    return jax.vmap(solve)(y0s)


starts = np.ones((19, 2), np.float32)
for begin in range(0, 19, 8):
    solve_all(starts[begin:begin + 8])  # <- cause
