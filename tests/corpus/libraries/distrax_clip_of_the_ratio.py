# cause: constant
# old: 0.2
# new: 0.1
# advice: array
# reason: the range of the clipped objective comes from a frozen configuration; its two bounds are 1 - e and 1 + e

import dataclasses
import functools

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    clip: float = 0.2
    entropy: float = 0.01


@functools.partial(jax.jit, static_argnums=0)
def update(config, params, batch):
    def loss_fn(params):
        policy = distrax.Categorical(logits=batch["observation"] @ params)
        ratio = jnp.exp(policy.log_prob(batch["action"]) - batch["log_prob"])
        clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)  # <- cause
        objective = jnp.minimum(ratio * batch["advantage"], clipped * batch["advantage"])
        return -objective.mean() - config.entropy * policy.entropy().mean()

    return params - 0.1 * jax.grad(loss_fn)(params)


params = np.zeros((4, 3), np.float32)
batch = {"observation": np.ones((6, 4), np.float32), "action": np.zeros(6, np.int32),
         "log_prob": np.full(6, -1.0, np.float32), "advantage": np.ones(6, np.float32)}
params = update(Config(), params, batch)
params = update(Config(clip=0.1), params, batch)  # <- call
