# cause: arguments
# pattern: subsets
# reason: an observation has only the sensors that answered in time

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

SENSORS = ("lidar", "camera", "sonar")


def policy(observation):
    x = hk.Linear(8, name="pose")(observation["pose"])
    for name in SENSORS:
        if name in observation:
            x += hk.Linear(8, name=name)(observation[name])
    return hk.Linear(2, name="action")(jax.nn.relu(x))


net = hk.without_apply_rng(hk.transform(policy))


@jax.jit
def act(params, observation):
    return jnp.tanh(net.apply(params, observation))


def observe(rng, answered):
    sizes = {"pose": 3, "lidar": 10, "camera": 12, "sonar": 4}
    return {name: rng.normal(size=sizes[name]).astype(np.float32)
            for name in ("pose", *SENSORS) if name in answered or name == "pose"}


rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.PRNGKey(0), observe(rng, SENSORS))
for answered in (("lidar", "camera", "sonar"), ("lidar", "sonar"), ("camera",), ("lidar", "camera"), ("sonar",)):
    action = act(params, observe(rng, answered))  # <- cause
    print(answered, np.asarray(action))
