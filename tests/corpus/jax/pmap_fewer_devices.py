# cause: devices
# subject: mesh of devices
# old: 4
# new: 2
# program: jit__fun

import jax
import jax.numpy as jnp
import numpy as np


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


def update(w, x):
    return w - 0.1 * jax.lax.pmean(jax.grad(loss)(w, x), "data")


for count in (4, 2):
    step = jax.pmap(update, axis_name="data", in_axes=(None, 0), devices=jax.devices()[:count])
    step(np.ones((3, 2), np.float32), np.ones((count, 8, 3), np.float32))  # <- cause
