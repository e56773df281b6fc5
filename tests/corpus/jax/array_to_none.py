# cause: arguments
# subject: state.momentum
# old: f32[8]
# new: absent

from typing import NamedTuple

import jax
import numpy as np


class State(NamedTuple):
    w: jax.Array
    momentum: jax.Array | None


@jax.jit
def step(state, grad):
    if state.momentum is None:
        return State(state.w - 0.1 * grad, None)
    momentum = 0.9 * state.momentum + grad
    return State(state.w - 0.1 * momentum, momentum)


ones = np.ones(8, np.float32)
step(State(ones, ones), ones)
step(State(ones, None), ones)  # <- cause
