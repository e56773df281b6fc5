# cause: shape
# subject: x
# old: f32[6,2]
# new: f32[5,2]
# and
# cause: structure
# subject: choose
# old: maximum
# new: minimum
# reason: the line takes two parts of the argument both times, so no loop over its rows ran more often

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="choose")
def step(x, choose):
    return choose(x[:, :1], x[:, 1:])  # <- cause 2


step(np.ones((6, 2), np.float32), choose=jnp.maximum)
step(np.ones((5, 2), np.float32), choose=jnp.minimum)  # <- cause, call 2
