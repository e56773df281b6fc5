# cause: shape
# subject: sigma
# old: f32[3,2]
# new: f32[3,4]
# run: EQX_ON_ERROR=nan
# reason: the prices are driven by four factors instead of two; the Brownian motion has as many dimensions

import diffrax
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


@jax.jit
def paths(prices, drift, keys, sigma):
    def simulate(key):
        def diffusion(t, y, args):
            return lx.MatrixLinearOperator(y[:, None] * sigma)

        brownian = diffrax.VirtualBrownianTree(0.0, 1.0, tol=0.25, shape=(sigma.shape[1],), key=key)
        terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, args: drift * y),
                                  diffrax.ControlTerm(diffusion, brownian))
        solution = diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.25, prices, max_steps=4)
        return solution.ys[-1]

    ends = jax.vmap(simulate)(keys)
    return ends.mean(0), jnp.var(ends, axis=0)


prices, drift = np.full(3, 100.0, np.float32), np.full(3, 0.05, np.float32)
keys = np.arange(10, dtype=np.uint32).reshape(5, 2)
for factors in (2, 2, 4):
    sigma = np.full((3, factors), 0.1, np.float32)
    mean, variance = paths(prices, drift, keys, sigma)  # <- cause
