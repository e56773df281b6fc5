# cause: shape
# subject: params['table']
# old: f32[16,4]
# new: f32[20,4]
# and
# cause: shape
# subject: tokens
# old: i32[3,7]
# new: i32[3,9]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, tokens):
    hidden = params["table"][tokens]
    return jnp.einsum("bld,vd->blv", jnp.tanh(hidden), params["table"])


def run(words, length):
    table = np.ones((words, 4), np.float32)
    return step({"table": table}, np.zeros((3, length), np.int32))  # <- cause, cause 2


run(16, 7)
run(20, 9)  # <- call, call 2
