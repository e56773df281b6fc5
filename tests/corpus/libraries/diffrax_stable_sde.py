# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def path(key, y0):
    brownian = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(2,), key=key)
    terms = diffrax.MultiTerm(
        diffrax.ODETerm(lambda t, y, args: -y),
        diffrax.ControlTerm(lambda t, y, args: 0.1 * jnp.eye(2), brownian))
    return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.05, y0).ys[-1]


paths = jax.jit(jax.vmap(path, in_axes=(0, None)))
y0 = np.ones(2, np.float32)
for seed in range(3):
    keys = jax.random.split(jax.random.key(seed), 4)
    print(np.asarray(paths(keys, y0)).mean(0))
