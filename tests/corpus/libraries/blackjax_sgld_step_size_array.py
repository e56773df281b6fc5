# cause: weak_type
# subject: step_size
# old: weak f32[]
# new: f32[]
# advice: asarray | array

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def grad(position, minibatch):
    return -(position - minibatch.mean(0))


sgld = blackjax.sgld(grad)
step = jax.jit(sgld.step)
batch = np.ones((4, 2), np.float16)
position = jnp.zeros(2, jnp.float16)
schedule = [1e-2, jnp.float32(5e-3)]
for step_size in schedule:
    position = step(jax.random.key(0), position, batch, step_size).astype(jnp.float16)  # <- cause
