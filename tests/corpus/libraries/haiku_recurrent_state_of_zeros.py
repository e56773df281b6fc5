# cause: dtype
# subject: hidden
# old: f32[4,8]
# new: bf16[4,8]
# reason: the first state is made by jnp.zeros, the policy of mixed precision returns bfloat16

import haiku as hk
import jax
import jax.numpy as jnp
import jmp
import numpy as np

policy = jmp.Policy(param_dtype=jnp.float32, compute_dtype=jnp.bfloat16, output_dtype=jnp.bfloat16)
hk.mixed_precision.set_policy(hk.GRU, policy)


def agent(observation, hidden):
    embedded = jax.nn.relu(hk.Linear(8)(observation))
    out, hidden = hk.GRU(8)(embedded, hidden)
    return hk.Linear(3)(out.astype(jnp.float32)), hidden


net = hk.without_apply_rng(hk.transform(agent))


@jax.jit
def act(params, observation, hidden):
    logits, hidden = net.apply(params, observation, hidden)
    return logits.argmax(-1), hidden


class Environments:
    def __init__(self, count):
        self.rng = np.random.default_rng(0)
        self.count = count

    def step(self, actions=None):
        return self.rng.normal(size=(self.count, 5)).astype(np.float32)


environments = Environments(4)
observation = environments.step()
hidden = jnp.zeros((4, 8))
params = jax.jit(net.init)(jax.random.key(0), observation, hidden)
for _ in range(4):
    actions, hidden = act(params, observation, hidden)  # <- cause
    observation = environments.step(np.asarray(actions))
