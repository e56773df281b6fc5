# cause: structure
# reason: actions are squashed into the bounds by a tanh in the second trial

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def make_surrogate(squashed):
    @jax.jit
    def surrogate(params, observation, action, advantage):
        mean, log_std = jnp.split(observation @ params, 2, -1)
        policy = distrax.MultivariateNormalDiag(mean, jnp.exp(log_std))
        if squashed:
            policy = distrax.Transformed(policy, distrax.Block(distrax.Tanh(), 1))
        return -jnp.mean(policy.log_prob(action) * advantage)  # <- cause

    return surrogate


params, observation = np.full((4, 6), 0.1, np.float32), np.ones((5, 4), np.float32)
action, advantage = np.full((5, 3), 0.2, np.float32), np.ones(5, np.float32)
for squashed in (False, True):
    make_surrogate(squashed)(params, observation, action, advantage)  # <- call
