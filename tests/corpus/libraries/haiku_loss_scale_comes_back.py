# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]
# advice: asarray
# reason: the scale of the loss begins as a Python number and comes back as an array; the network is in bfloat16

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    return hk.Linear(1)(jax.nn.relu(hk.Linear(6)(x)))


network = hk.without_apply_rng(hk.transform(forward))
x = jnp.asarray(np.ones((4, 3)), jnp.bfloat16)
params = jax.jit(network.init)(jax.random.key(0), x)


@jax.jit
def train_step(params, x, scale):
    def scaled_loss(params):
        return jnp.mean(network.apply(params, x) ** 2) * scale

    grads = jax.grad(scaled_loss)(params)
    finite = jnp.all(jnp.array([jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]))
    params = jax.tree.map(lambda p, g: (p - 0.1 * g / scale).astype(p.dtype), params, grads)
    return params, jnp.where(finite, scale, scale / 2).astype(jnp.float32)


scale = 128.0
for _ in range(3):
    params, scale = train_step(params, x, scale)  # <- cause
