# cause: retrace
# subject: mask
# old: f32[3]
# new: f32[5]
# program: jit_step

import jax
import jax.numpy as jnp
import numpy as np


def tree(value):
    return {
        f"layer_{i:02d}": {"kernel_of_the_attention": value * jnp.ones((4, 4)),
                           "bias_of_the_attention": value * jnp.ones(4)}
        for i in range(30)
    }


@jax.jit
def step(state, moments, batch, mask):
    mean = batch["x"].mean()
    return (jax.tree.map(lambda w, m: w - 0.1 * mean * m, state, moments),
            jax.tree.map(lambda m: 0.9 * m, moments))


state, moments = tree(1.0), tree(0.5)
for present in (3, 3, 5):
    batch = {"x": np.ones(8, np.float32)}
    state, moments = step(state, moments, batch, np.ones(present, np.float32))  # <- cause
