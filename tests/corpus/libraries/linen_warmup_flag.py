# cause: constant
# subject: warm
# old: True
# new: False
# advice: array
# reason: a Python counter says whether it is still warm-up; the rate of each phase is baked in

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(8)(x)))


WARMUP_STEPS = 2
model = Net()
rng = np.random.default_rng(0)
params = model.init(jax.random.key(0), np.ones((1, 5), np.float32))


@functools.partial(jax.jit, static_argnames="warm")
def train_step(params, x, y, warm):
    def loss_fn(params):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    rate = 0.001 if warm else 0.1
    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)  # <- cause


for step in range(5):
    x = rng.normal(size=(4, 5)).astype(np.float32)
    y = rng.normal(size=(4, 3)).astype(np.float32)
    params = train_step(params, x, y, warm=step < WARMUP_STEPS)  # <- call
