# cause: constant
# subject: bonus
# old: 0.25
# new: 0.125
# pattern: counter
# advice: array
# reason: the coefficient of the entropy is halved by the host after each iteration, and static

import functools

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def objective(params, batch, bonus):
    policy = distrax.Categorical(logits=batch["observation"] @ params)
    gain = jnp.mean(policy.log_prob(batch["action"]) * batch["advantage"])
    return -gain - bonus * jnp.mean(policy.entropy())  # <- cause


@functools.partial(jax.jit, static_argnames=("bonus",))
def improve(params, batch, *, bonus):
    return params - 0.1 * jax.grad(objective)(params, batch, bonus)


class Agent:
    def __init__(self):
        self.params = np.ones((5, 3), np.float32)
        self.bonus = 1.0

    def iterate(self, batch):
        self.params = improve(self.params, batch, bonus=self.bonus)  # <- call
        self.bonus *= 0.5


batch = {
    "observation": np.ones((4, 5), np.float32),
    "action": np.zeros(4, np.int32),
    "advantage": np.ones(4, np.float32),
}
agent = Agent()
for _ in range(4):
    agent.iterate(batch)
