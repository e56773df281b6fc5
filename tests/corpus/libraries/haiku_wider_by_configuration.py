# cause: shape
# subject: params['mlp/~/linear_0']['b']
# old: f32[8]
# new: f32[12]
# program: jit_loss

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def build(width):
    net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([width, 2])(x)))

    def loss(params, x):
        return jnp.mean(net.apply(params, x) ** 2)

    return jax.jit(net.init), jax.jit(loss)


x = np.ones((3, 4), np.float32)
for width in (8, 12):
    init, loss = build(width)
    params = init(jax.random.PRNGKey(0), x)
    loss(params, x)  # <- cause
