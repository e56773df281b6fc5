# cause: constant
# subject: discount
# old: 0.99
# new: 0.9
# reason: the discount is closed over by the loop that sums rewards from the end

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

value = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 1])(x)[..., 0]))


def make_update(discount):
    def returns_of(rewards):
        def back(following, reward):
            total = reward + discount * following  # <- cause
            return total, total

        return jax.lax.scan(back, jnp.zeros(()), rewards, reverse=True)[1]

    @jax.jit
    def update(params, observations, rewards):
        def loss_fn(params):
            return jnp.mean((value.apply(params, observations) - returns_of(rewards)) ** 2)

        return jax.tree.map(lambda p, g: p - 0.01 * g, params, jax.grad(loss_fn)(params))

    return update


observations, rewards = np.ones((6, 3), np.float32), np.ones(6, np.float32)
params = jax.jit(value.init)(jax.random.key(0), observations)
for discount in (0.99, 0.9):
    params = make_update(discount)(params, observations, rewards)  # <- call
