# cause: constant
# old: true
# new: false

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def log_prob_with(mask):
    coupling = distrax.MaskedCoupling(
        mask=mask, conditioner=lambda x: jnp.stack([x, x], -1),
        bijector=lambda p: distrax.ScalarAffine(shift=p[..., 0], log_scale=p[..., 1]))

    def log_prob(x):
        y, log_det = coupling.forward_and_log_det(x)  # <- cause
        return y.sum() + log_det
    return jax.jit(log_prob)


x = np.ones(4, np.float32)
mask = np.arange(4) % 2 == 0
log_prob_with(mask)(x)
log_prob_with(~mask)(x)  # <- call
