# cause: shape
# subject: batch['x']
# old: f32[8,6]
# new: f32[3,6]
# and
# cause: constant
# subject: weight
# old: 0.5
# new: 2.0
# reason: a short batch and another weight of the penalty in one call

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(8)(x)))


model = Net()
params = jax.jit(model.init)(jax.random.key(0), np.ones((8, 6), np.float32))


@functools.partial(jax.jit, static_argnames="weight")
def loss(params, batch, weight):
    logits = model.apply(params, batch["x"])
    penalty = sum(jnp.sum(jnp.abs(p)) for p in jax.tree.leaves(params))
    return jnp.max(logits) + weight * penalty  # <- cause 2


loss(params, {"x": np.ones((8, 6), np.float32)}, weight=0.5)
loss(params, {"x": np.ones((3, 6), np.float32)}, weight=2.0)  # <- cause, call 2
