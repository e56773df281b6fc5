# program: jit__lambda
# cause: shape
# subject: data['a']
# old: f32[3,4]
# new: f32[2,4]
# reason: the user's names are those of the innermost function: filter_vmap and filter_grad have *args

import equinox as eqx
import jax.numpy as jnp
import numpy as np


def ones(*shape):
    return np.ones(shape, np.float32)


gradients = eqx.filter_jit(eqx.filter_vmap(
    eqx.filter_grad(lambda w, data: jnp.tanh(w * data["a"]).sum()), in_axes=(None, 0)))
for rows in (3, 3, 2):
    gradients(ones(4), {"a": ones(rows, 4)})  # <- cause
