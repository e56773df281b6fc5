# cause: constant
# old: 1.0
# new: 2.5
# advice: array
# reason: the state is a tuple of Python floats, and diffeqsolve's own filter_jit makes them a part of the program
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp

TERM = diffrax.ODETerm(lambda t, y, args: (y[1], -jnp.sin(y[0]) - args * y[1]))


def swing(angle, damping):
    solution = diffrax.diffeqsolve(TERM, diffrax.Midpoint(), 0.0, 1.0, 0.1,  # <- cause
                                   (angle, 0.0), args=damping)
    return solution.ys[0][-1]


damping = jnp.float32(0.25)
for angle in (1.0, 2.5):
    swing(angle, damping)
