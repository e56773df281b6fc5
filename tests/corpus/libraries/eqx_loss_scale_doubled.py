# cause: constant
# subject: scale
# old: 512.0
# new: 1024.0
# advice: array
# reason: the loss scale is a Python number, which filter_jit makes static; it scales the loss and divides the gradients

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def make_step(model, x, scale):
    def scaled_loss(model):
        half = jax.tree.map(lambda w: w.astype(jnp.float16), model)
        error = jax.vmap(half)(x.astype(jnp.float16)).astype(jnp.float32)
        return jnp.mean(error ** 2) * scale  # <- cause

    grads = eqx.filter_grad(scaled_loss)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g / scale, grads))


model = eqx.nn.Linear(4, 1, key=jax.random.key(0))
x = np.ones((3, 4), np.float32)
scale = 512.0
for step in range(4):
    if step == 2:
        scale *= 2
    model = make_step(model, x, scale)  # <- call
