# cause: stable
# reason: chains over four devices, and a checkpoint of their state in the middle

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("chains",))
chains = NamedSharding(mesh, P("chains"))
sampler = blackjax.hmc(lambda x: -jnp.sum(x ** 4), 0.05, np.ones(2, np.float32), 3)


@jax.jit
def start(positions):
    return jax.vmap(sampler.init)(positions)


@jax.jit
def step(keys, states):
    states, info = jax.vmap(sampler.step)(keys, states)
    return states, info.acceptance_rate.mean()


states = start(jax.device_put(np.ones((8, 2), np.float32), chains))
for iteration in range(4):
    keys = jax.device_put(jax.random.split(jax.random.key(iteration), 8), chains)
    states, rate = step(keys, states)
    if iteration == 1:
        np.savez("states.npz", **states._asdict())
        saved = np.load("states.npz")
        states = states._replace(**{name: jax.device_put(saved[name], chains)
                                    for name in states._fields})
print(float(rate))
