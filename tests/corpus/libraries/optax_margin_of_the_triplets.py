# cause: constant
# subject: margin
# old: left out
# new: 0.5
# reason: the margin between near and far is a static number of the loss

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax


def embed(params, x):
    return jnp.tanh(x @ params)


@functools.partial(jax.jit, static_argnames=("margin",))
def train_step(params, anchors, near, far, margin=1.0):
    def objective(params):
        losses = optax.losses.triplet_margin_loss(embed(params, anchors), embed(params, near), embed(params, far), margin=margin)  # <- cause
        return losses.mean()

    value, grads = jax.value_and_grad(objective)(params)
    return params - 0.25 * grads, value


params = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
anchors, near, far = np.ones((5, 4), np.float32), np.full((5, 4), 0.9, np.float32), np.zeros((5, 4), np.float32)
for kwargs in ({}, {}, {"margin": 0.5}):
    params, value = train_step(params, anchors, near, far, **kwargs)  # <- call
