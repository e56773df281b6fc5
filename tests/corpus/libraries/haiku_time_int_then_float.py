# cause: dtype
# subject: t
# old: i32[]
# new: f32[]
# reason: the first time of the diffusion is the Python number 0, the others are fractions

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def denoise(x, t):
    embedding = jnp.stack([jnp.sin(3.0 * t), jnp.cos(3.0 * t)])
    hidden = jax.nn.silu(hk.Linear(8)(x) + hk.Linear(8)(embedding))
    return hk.Linear(4)(hidden)


net = hk.without_apply_rng(hk.transform(denoise))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x, 0.5)


@jax.jit
def denoising_step(params, x, t):
    return x - 0.1 * net.apply(params, x, t)


for t in (0, 0.25, 0.5):
    x = denoising_step(params, x, t)  # <- cause
