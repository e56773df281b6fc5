# cause: structure
# reason: another loss of the configuration

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

LOSSES = {"huber": optax.huber_loss, "l2": optax.l2_loss}


@functools.partial(jax.jit, static_argnames="kind")
def evaluate(w, x, y, kind):
    predicted = x @ w
    each = LOSSES[kind](predicted, y)  # <- cause
    return jnp.mean(each)


w, x, y = np.ones(3, np.float32), np.ones((4, 3), np.float32), np.ones(4, np.float32)
evaluate(w, x, y, kind="l2")
evaluate(w, x, y, kind="huber")  # <- call
