# cause: arguments
# subject: y0['exposed']
# old: absent
# new: f32[]
# run: EQX_ON_ERROR=nan
# reason: the epidemic has one compartment more; its operations follow from that

import diffrax
import jax
import numpy as np


def field(t, y, args):
    infections = args["contact"] * y["susceptible"] * y["infected"]
    recoveries = args["recovery"] * y["infected"]
    change = {"susceptible": -infections, "infected": infections - recoveries}
    if "exposed" in y:
        onsets = args["onset"] * y["exposed"]
        change |= {"exposed": infections - onsets, "infected": onsets - recoveries}
    return change


@jax.jit
def simulate(y0, args):
    solution = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.25, y0,
                                   args=args)
    return solution.ys


args = {"contact": np.float32(0.5), "recovery": np.float32(0.1), "onset": np.float32(0.2)}
y0 = {"susceptible": np.float32(0.9), "infected": np.float32(0.1)}
simulate(y0, args)
simulate(y0 | {"exposed": np.float32(0.0)}, args)  # <- cause
