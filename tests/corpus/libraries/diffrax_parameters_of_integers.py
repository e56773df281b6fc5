# cause: dtype
# subject: args['rate']
# old: f32[]
# new: i32[]
# advice: asarray | dtype
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import numpy as np
from diffrax import ODETerm, Tsit5, diffeqsolve


def field(t, y, args):
    return args["offset"] - args["rate"] * y


def run(rate):
    parameters = {"offset": np.float32(1.0), "rate": np.asarray(rate)}
    return diffeqsolve(ODETerm(field), Tsit5(), 0.0, 1.0, 0.1, jnp.ones(2), args=parameters)  # <- cause


for rate in (0.5, 2):
    run(rate)
