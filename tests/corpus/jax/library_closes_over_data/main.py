# cause: size
# old: 8
# new: 11
# program: jit_descend
# reason: the library closes over the data, so they are not arguments, and its own lines are no help
# advice: fixed | pad | mask

import os
import sys

import jax.numpy as jnp
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
from lib.fit import fit


def loss(weight, data):
    return jnp.sum(jnp.tanh(weight - data))  # <- cause


for rows in (8, 11):
    fit(loss, np.linspace(0.0, 1.0, rows, dtype=np.float32), steps=3)  # <- call
