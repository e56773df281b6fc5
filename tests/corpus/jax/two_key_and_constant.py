# cause: arguments
# subject: batch['mask']
# old: absent
# new: f32[8]
# and
# cause: constant
# subject: temperature
# old: 3.0
# new: 7.0

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(batch, temperature):
    logits = jnp.tanh(batch["x"])
    logits = logits / temperature  # <- cause 2
    if "mask" in batch:
        logits = logits + batch["mask"]
    return logits.sum()


ones = np.ones(8, np.float32)
step({"x": ones}, 3.0)
step({"x": ones, "mask": ones}, 7.0)  # <- cause, call 2
