# cause: arguments
# subject: batch['pixels']
# old: absent
# new: f32[4,3]
# and
# cause: arguments
# subject: batch['tokens']
# old: i32[6]
# new: absent

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, batch):
    x = w[batch["tokens"]] if "tokens" in batch else batch["pixels"] @ w
    return jnp.sum(jnp.tanh(x))


w = np.ones((3, 5), np.float32)
step(w, {"tokens": np.zeros(6, np.int32)})
step(w, {"pixels": np.ones((4, 3), np.float32)})  # <- cause, cause 2
