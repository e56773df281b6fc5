# cause: stable
# reason: two systems of different size, each solved several times, are two programs by intent
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import jax
import jax.numpy as jnp
import numpy as np
from diffrax import Heun, ODETerm, SaveAt, diffeqsolve


def oscillator(t, y, args):
    return jnp.stack([y[1], -args * y[0]])


def decay(t, y, args):
    return {"mass": -0.1 * y["mass"]}


@jax.jit
def simulate_oscillator(y0, stiffness):
    return diffeqsolve(ODETerm(oscillator), Heun(), 0.0, 1.0, 0.1, y0, stiffness).ys


@jax.jit
def simulate_decay(y0):
    return diffeqsolve(ODETerm(decay), Heun(), 0.0, 1.0, 0.1, y0, saveat=SaveAt(steps=True),
                       max_steps=16).ys


for k in (1.0, 2.0, 4.0):
    simulate_oscillator(np.float32([1.0, 0.0]), np.float32(k))
    simulate_decay({"mass": np.full(3, k, np.float32)})
