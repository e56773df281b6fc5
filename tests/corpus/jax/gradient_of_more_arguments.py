# program: jit_loss
# cause: structure
# subject: argnums
# old: 0
# new: (0, 1)
# advice: jit a function for each

import jax, jax.numpy as jnp, numpy as np


def loss(generator, critic, z):
    return jnp.tanh(jnp.tanh(z @ generator) @ critic).mean()  # <- cause


def make(argnums):
    return jax.jit(jax.grad(loss, argnums=argnums))


g, c, z = np.ones((4, 4), np.float32), np.ones((4, 1), np.float32), np.ones((2, 4), np.float32)
for argnums in (0, (0, 1)):
    step = make(argnums)
    step(g, c, z)
    step(g, c, z)
