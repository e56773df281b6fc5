# cause: shape
# subject: x
# old: f32[8,5]
# new: f32[6,5]
# and
# cause: constant
# subject: rate
# old: 0.8
# new: 0.6000000000000001
# reason: a batch of another size and a rate that is scaled with it by hand: the shape alone would not bring that constant about

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

model = nn.Sequential([nn.Dense(7), nn.relu, nn.Dense(3)])
params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 5), np.float32))


def make_step(rate):
    @jax.jit
    def train_step(params, x):
        grads = jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)  # <- cause 2

    return train_step


for size in (8, 6):
    step = make_step(0.1 * size)
    for _ in range(2):
        params = step(params, np.ones((size, 5), np.float32))  # <- cause, call 2
