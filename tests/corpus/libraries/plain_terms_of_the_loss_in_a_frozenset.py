# cause: structure
# subject: terms
# old: frozenset({'data', 'smooth'})
# new: frozenset({'data'})
# advice: fixed | each
# reason: the set of terms is static, and the last fit drops one

import functools

import jax
import jax.numpy as jnp
import numpy as np


def objective(curve, seen, terms):
    total = jnp.zeros(())
    if "data" in terms:
        total += jnp.mean((curve - seen) ** 2)
    if "smooth" in terms:
        total += jnp.mean(jnp.diff(curve, 2) ** 2)  # <- cause
    return total


@functools.partial(jax.jit, static_argnames="terms")
def descend(curve, seen, terms):
    return curve - 0.1 * jax.grad(objective)(curve, seen, terms)


seen = np.sin(np.arange(9, dtype=np.float32))
curve = np.zeros(9, np.float32)
for terms in ({"data", "smooth"}, {"smooth", "data"}, {"data"}):
    curve = descend(curve, seen, terms=frozenset(terms))  # <- call
