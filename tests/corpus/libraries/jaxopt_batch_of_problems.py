# cause: shape
# subject: targets
# old: f32[4,2]
# new: f32[5,2]

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def distance(w, target):
    return jnp.sum((w - target) ** 2)


@jax.jit
def project_all(targets):
    projection = jaxopt.ProjectedGradient(distance, jaxopt.projection.projection_non_negative,
                                          maxiter=3)
    return jax.vmap(lambda target: projection.run(jnp.zeros(2), target=target).params)(targets)


for problems in (4, 5):
    project_all(np.ones((problems, 2), np.float32))  # <- cause
