# cause: constant
# subject: rate
# old: 0.1
# new: 0.2
# program: jit_solve
# reason: all of the program is a library's; the user's line asked for it with another static value

import pathlib
import sys

import jax.numpy as jnp

sys.path.insert(0, str(pathlib.Path(__file__).parent / "site-packages"))
import solver  # noqa: E402


def fit(rate):
    return solver.minimize(jnp.ones(8), rate)  # <- cause


for rate in (0.1, 0.1, 0.2):
    fit(rate)  # <- call
