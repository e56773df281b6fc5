# cause: shape
# subject: gram
# old: f32[5,5]
# new: f32[2,5,5]
# advice: rank
# reason: layouts that the solver asks for and axes inside follow from the number of dimensions

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(gram):
    return jnp.linalg.eigvalsh(gram).min()


gram = np.eye(5, dtype=np.float32)
step(gram)
step(np.stack([gram, 2 * gram]))  # <- cause
