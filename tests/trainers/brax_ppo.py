"""brax's PPO on its inverted pendulum, as its documentation starts it: evaluations with a progress callback, a
checkpoint at each of them, from the last of which it goes on when it is started again, and the policy in use.

Usage: brax_ppo.py
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def device_put_replicated(tree, devices):
    """What JAX 0.12 no longer has and brax 0.14.2 calls: JAX's page on pmap says to write it like this."""
    sharding = NamedSharding(Mesh(np.array(devices), ("d",)), PartitionSpec("d"))
    return jax.tree.map(lambda x: jax.device_put(
        jnp.broadcast_to(jnp.asarray(x)[None], (len(devices), *jnp.shape(x))), sharding), tree)


vars(jax)["device_put_replicated"] = device_put_replicated

from brax import envs  # noqa: E402
from brax.training.agents.ppo import train as ppo  # noqa: E402

checkpoints = pathlib.Path("checkpoints").absolute()
saved = sorted(checkpoints.glob("0*"))
if saved:
    print("restored", saved[-1].name)

environment = envs.get_environment("inverted_pendulum", backend="spring")
make_policy, parameters, metrics = ppo.train(
    environment=environment, num_timesteps=4096, num_evals=2, episode_length=32, num_envs=64, batch_size=32,
    num_minibatches=2, unroll_length=5, num_updates_per_batch=2, num_eval_envs=16, seed=0,
    normalize_observations=True, save_checkpoint_path=str(checkpoints),
    restore_checkpoint_path=str(saved[-1]) if saved else None,
    progress_fn=lambda step, metrics: print("step", step, "reward", metrics["eval/episode_reward"]))

policy = jax.jit(make_policy(parameters, deterministic=True))
for rows in (8, 8, 8, 5):
    actions, _ = policy(np.zeros((rows, environment.observation_size), np.float32), jax.random.key(0))  # ACCIDENT
    print("actions", actions.shape)
print("done")
