# cause: dtype
# subject: params['w']
# old: f32[4,4]
# new: bf16[4,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, x):
    return jnp.tanh(x.astype(params["w"].dtype) @ params["w"])


def build(dtype):
    return {"w": np.ones((4, 4), dtype)}


x = np.ones((2, 4), np.float32)
step(build(np.float32), x)
step(build(jnp.bfloat16), x)  # <- cause
