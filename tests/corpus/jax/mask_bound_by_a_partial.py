# program: jit_prune_step
# cause: constant
# subject: mask
# old: 1
# new: 0

import functools
import jax, jax.numpy as jnp, numpy as np


def prune_step(w, x, mask):
    return (x @ (w * mask)).sum()  # <- cause


w, x = np.ones(4, np.float32), np.ones((2, 4), np.float32)
for keep in (3, 2):
    mask = (np.arange(4) < keep).astype(np.float32)
    step = jax.jit(functools.partial(prune_step, mask=mask))
    step(w, x)  # <- call
