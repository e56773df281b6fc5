# cause: constant
# old: 0.25
# new: 0.5
# reason: how fast the target network follows is a Python number of the agent; one minus it is baked in as well

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 3])(x)))


class Agent:
    def __init__(self, tau):
        self.tau = tau
        self.update = jax.jit(self._update)

    def _update(self, online, target, x, actions, rewards):
        def loss_fn(params):
            values = jnp.take_along_axis(net.apply(params, x), actions[:, None], 1)[:, 0]
            aim = rewards + jnp.max(net.apply(target, x), axis=-1)
            return jnp.mean((values - jax.lax.stop_gradient(aim)) ** 2)

        online = jax.tree.map(lambda p, g: p - 0.125 * g, online, jax.grad(loss_fn)(online))
        return online, optax.incremental_update(online, target, self.tau)  # <- cause


x, actions, rewards = np.ones((4, 5), np.float32), np.array([0, 1, 2, 0], np.int32), np.ones(4, np.float32)
online = target = jax.jit(net.init)(jax.random.key(0), x)
for tau in (0.25, 0.5):
    agent = Agent(tau)
    for _ in range(2):
        online, target = agent.update(online, target, x, actions, rewards)  # <- call
