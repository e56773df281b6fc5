import jax
import numpy as np


def rollout(act, params, seed, steps=6):
    """One batch of independent observations; the action 2 pays most and costs."""
    observation = np.random.default_rng(seed).normal(size=(steps, 4)).astype(np.float32)
    action = np.asarray(act(params, jax.random.key(seed), observation))
    return {"observation": observation, "action": action,
            "reward": (0.5 * action).astype(np.float32), "cost": (action == 2).astype(np.float32)}
