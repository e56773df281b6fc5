# cause: weak_type
# old: weak f32[]
# new: f32[]
# advice: asarray
# program: jit_score

import distrax
import jax
import numpy as np


@jax.jit
def score(prior, x):
    return prior.log_prob(x)


x = np.ones(4, np.float16)
score(distrax.Laplace(0.0, 1.0), x)
score(distrax.Laplace(np.float32(0.0), 1.0), x)  # <- cause
