# cause: structure
# reason: from the second stage on the equation has a noise term of its own
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def drift(t, y, args):
    return -args * y


def diffusion(t, y, args):
    return 0.1 * jnp.ones(2)


def terms_for(noisy, key):
    drift_term = diffrax.ODETerm(drift)
    if not noisy:
        return drift_term
    path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=0.25, shape=(2,), key=key)  # <- cause
    control = diffrax.ControlTerm(lambda t, y, args: jnp.diag(diffusion(t, y, args)), path)
    return diffrax.MultiTerm(drift_term, control)


def make_simulate(noisy):
    @jax.jit
    def simulate(y0, rate, key):
        terms = terms_for(noisy, key)
        return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.25, y0, args=rate).ys[-1]

    return simulate


for noisy in (False, True):
    make_simulate(noisy)(np.ones(2, np.float32), np.float32(0.5), jax.random.key(0))  # <- call
