# cause: arguments
# subject: legal
# old: absent
# new: bool[4,5]
# advice: ones | same keys | None
# reason: one of the games tells which actions are legal, the first one has nothing of the kind

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def act(params, key, observation, legal=None):
    hidden = jnp.tanh(observation @ params["hidden"])
    logits = hidden @ params["policy"]
    if legal is not None:
        logits = jnp.where(legal, logits, jnp.finfo(logits.dtype).min)
    policy = distrax.Categorical(logits=logits)
    action, log_prob = policy.sample_and_log_prob(seed=key)
    value = jnp.squeeze(hidden @ params["value"], -1)
    return action, {"log_prob": log_prob, "entropy": policy.entropy(), "value": value}


def play(params, environment, steps):
    for step in range(steps):
        key = np.array([step, 7], np.uint32)
        action, extras = act(params, key, environment["observation"], environment.get("legal"))  # <- cause
    return np.asarray(action)


params = {"hidden": np.ones((3, 6), np.float32), "policy": np.ones((6, 5), np.float32),
          "value": np.ones((6, 1), np.float32)}
cartpole = {"observation": np.ones((4, 3), np.float32)}
chess = {"observation": np.zeros((4, 3), np.float32), "legal": np.tile(np.arange(5) % 2 == 0, (4, 1))}
for environment in (cartpole, chess):
    play(params, environment, 2)
