# cause: retrace
# advice: Leave it out of the call
# reason: the file's name is static and changes nothing; the names differ only in their last part

import functools

import jax
import jax.numpy as jnp
import numpy as np

folder = "/data/experiments/2026/language/small/with-warmup/seed-0/checkpoints"


@functools.partial(jax.jit, static_argnames=("checkpoint",))
def validate(params, x, checkpoint):
    return jnp.tanh(x @ params["w"]).mean()


params = {"w": np.ones((4, 3), np.float32)}
x = np.ones((2, 4), np.float32)
for step in range(3):
    validate(params, x, checkpoint=f"{folder}/{step}.npz")  # <- cause
