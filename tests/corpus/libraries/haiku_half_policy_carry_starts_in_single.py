# cause: dtype
# subject: carry
# old: f32[4,8]
# new: bf16[4,8]
# advice: zeros | asarray | dtype
# reason: the state of the recurrent policy begins as zeros of float32 and comes back in bfloat16

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

AGENTS, UNITS, ACTIONS = 4, 8, 3


def policy(observation, carry):
    x = hk.Linear(UNITS)(observation.astype(jnp.bfloat16))
    output, carry = hk.GRU(UNITS)(jax.nn.relu(x), carry)
    return hk.Linear(ACTIONS)(output), carry.astype(jnp.bfloat16)


network = hk.without_apply_rng(hk.transform(policy))


@jax.jit
def act(params, observation, carry):
    logits, carry = network.apply(params, observation, carry)
    return jnp.argmax(logits, axis=-1), carry


class Environment:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self):
        return self.rng.normal(size=(AGENTS, 6)).astype(np.float32)

    def step(self, actions):
        drift = np.asarray(actions)[:, None].astype(np.float32)
        return self.rng.normal(size=(AGENTS, 6)).astype(np.float32) + 0.1 * drift


def rollout(params, environment, steps):
    observation = environment.reset()
    carry = np.zeros((AGENTS, UNITS), np.float32)
    for _ in range(steps):
        actions, carry = act(params, observation, carry)  # <- cause
        observation = environment.step(actions)
    return observation


def main():
    params = jax.jit(network.init)(jax.random.key(0), np.zeros((AGENTS, 6), np.float32),
                                   np.zeros((AGENTS, UNITS), np.float32))
    params = jax.tree.map(lambda p: np.asarray(p.astype(jnp.bfloat16)), params)
    print(rollout(params, Environment(), 5).mean())


main()
