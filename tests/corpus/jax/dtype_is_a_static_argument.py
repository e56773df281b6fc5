# program: jit_forward
# cause: structure
# subject: dtype
# old: 'float32'
# new: 'bfloat16'
# advice: in every call or in none

import functools
import jax, jax.numpy as jnp, numpy as np


@functools.partial(jax.jit, static_argnames=("dtype",))
def forward(params, x, dtype):
    x = x.astype(dtype)  # <- cause
    for w in params:
        x = jnp.tanh(x @ w.astype(dtype))
    return x.astype(jnp.float32).mean()


params, x = [np.ones((8, 8), np.float32)] * 2, np.ones((2, 8), np.float32)
for dtype in ("float32", "float32", "bfloat16"):
    forward(params, x, dtype)  # <- call
