# cause: dtype
# subject: dtype
# old: bf16[2,4]
# new: f16[2,4]
# reason: no argument changes its type: a cast inside does

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="dtype")
def step(w, x, dtype):
    hidden = x.astype(dtype) * 2  # <- cause
    return jnp.tanh(hidden).astype(jnp.float32) @ w


w, x = np.ones(4, np.float32), np.ones((2, 4), np.float32)
step(w, x, dtype=jnp.bfloat16)
step(w, x, dtype=jnp.float16)  # <- call
