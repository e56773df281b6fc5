# cause: shape
# subject: logits
# old: f32[2,7]
# new: f32[2,11]

import distrax
import jax
import numpy as np


@jax.jit
def pick(key, logits):
    policy = distrax.Categorical(logits=logits)
    action, log_prob = policy.sample_and_log_prob(seed=key)
    return action, log_prob, policy.entropy()


key = jax.random.PRNGKey(3)
for actions in (7, 11):
    pick(key, np.zeros((2, actions), np.float32))  # <- cause
