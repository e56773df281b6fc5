# cause: arguments
# subject: args['drive']
# old: absent
# new: f32[2]
# advice: same keys
# reason: some of the experiments have a driving force, the others have no such key
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def field(t, y, args):
    rate = -args["rate"] * y
    if "drive" in args:
        rate = rate + args["drive"]
    return rate


@jax.jit
def final_state(y0, args):
    solution = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.25, y0,
                                   args=args)
    return solution.ys[-1]


y0, rate = np.ones(2, np.float32), np.float32(0.5)
for args in ({"rate": rate}, {"rate": rate, "drive": np.ones(2, np.float32)}):
    final_state(y0, args)  # <- cause
