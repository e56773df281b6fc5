# cause: structure
# advice: !jnp.where
# reason: another policy says what the backward pass computes again; the line is the one that is computed again

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(jnp.sin(nn.Dense(8)(jnp.sin(nn.Dense(8)(x)))))  # <- cause


model = Net()
x = np.ones((4, 5), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


def make_step(policy):
    @jax.jit
    def train_step(params, x):
        forward = jax.checkpoint(model.apply, policy=policy)
        grads = jax.grad(lambda p: jnp.mean(forward(p, x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return train_step


for policy in (jax.checkpoint_policies.everything_saveable,
               jax.checkpoint_policies.nothing_saveable):
    make_step(policy)(params, x)  # <- call
