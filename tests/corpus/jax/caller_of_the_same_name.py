# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x).sum()


class Trainer:
    def step(self, count):
        return step(np.ones(count, np.float32))  # <- cause


trainer = Trainer()
trainer.step(8)
trainer.step(4)  # <- call
