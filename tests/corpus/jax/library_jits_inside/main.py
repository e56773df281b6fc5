# cause: constant
# subject: until
# old: 2.0
# new: 3.0
# program: jit_loss
# reason: the library jits its own function, so the frames of what is computed in there end with it

import functools
import os
import sys

import jax
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
from lib.solve import solve


@functools.partial(jax.jit, static_argnames="until")
def loss(x, until):
    return solve(x, until).sum()  # <- cause


for until in (2.0, 3.0):
    loss(np.ones(4, np.float32), until=until)  # <- call
