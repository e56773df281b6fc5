# cause: arguments
# subject: memory['left']
# old: absent
# new: f32[4]
# reason: they are added and given back, but under other names: no gradients

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(a, b, memory):
    a, b = jnp.tanh(a), jnp.sin(b)
    if memory:
        return {"a": a + memory["left"], "b": b + memory["right"]}
    return {"a": a, "b": b}


ones = np.ones(4, np.float32)
step(ones, ones * 2, {})
step(ones, ones * 2, {"left": ones, "right": ones})  # <- cause
