# cause: constant
# subject: multiplier
# pattern: counter
# program: jit_update
# reason: the multiplier follows the measured cost, and the update is made anew with each value

import jax
import numpy as np

import agent
from simulator import rollout

LIMIT = 0.2
multiplier = 0.5
params = jax.jit(agent.policy.init)(jax.random.key(0), np.ones((1, 4), np.float32))
opt_state = jax.jit(agent.optimizer.init)(params)
for iteration in range(4):
    update = agent.make_update(multiplier)
    costs = []
    for episode in range(2):
        batch = rollout(agent.act, params, seed=10 * iteration + episode)
        params, opt_state = update(params, opt_state, batch)  # <- call
        costs.append(batch["cost"].mean())
    multiplier = multiplier + 0.25 * (1.0 + float(np.mean(costs)) - LIMIT)
    print(iteration, multiplier)
