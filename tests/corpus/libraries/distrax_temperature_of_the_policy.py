# cause: constant
# subject: self.temperature
# old: 2.0
# new: 0.5
# reason: the agent of the second league plays colder; the temperature is a field of the agent

import distrax
import jax
import numpy as np


class Agent:
    def __init__(self, temperature):
        self.temperature = temperature
        self.act = jax.jit(self._act)

    def _act(self, weights, key, observation):
        logits = observation @ weights
        policy = distrax.Softmax(logits, temperature=self.temperature)  # <- cause
        action, log_prob = policy.sample_and_log_prob(seed=key)
        return action, log_prob, policy.entropy()


weights, observation = np.ones((4, 3), np.float32), np.ones((5, 4), np.float32)
for temperature in (2.0, 0.5):
    Agent(temperature).act(weights, jax.random.key(0), observation)  # <- call
