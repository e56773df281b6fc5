# cause: shape
# subject: params['Dense_0']['kernel']
# old: f32[16,2]
# new: f32[24,2]
# program: jit_train_step

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Mlp(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.tanh(nn.Dense(self.width)(x)))


def train_step(params, x, apply):
    def loss_fn(params):
        return jnp.mean(apply({"params": params}, x) ** 2)

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


step = jax.jit(train_step, static_argnames="apply")
x = np.ones((4, 8), np.float32)
for width in (16, 24):
    model = Mlp(width)
    params = jax.jit(model.init)(jax.random.key(0), x)["params"]
    params = step(params, x, apply=model.apply)  # <- cause
