# cause: sharding
# subject: states.position
# old: P()
# new: P('chains')

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("chains",))
sampler = blackjax.mala(lambda x: -0.5 * x ** 2, 0.1)


@jax.jit
def advance(states, keys):
    return jax.vmap(sampler.step)(keys, states)[0].position


@jax.jit
def start(positions):
    return jax.vmap(sampler.init)(positions)


keys = jax.device_put(jax.random.split(jax.random.PRNGKey(0), 8), NamedSharding(mesh, P()))
states = jax.tree.map(np.asarray, start(jnp.zeros(8)))
for spec in (P(), P("chains")):
    placed = states._replace(position=jax.device_put(states.position, NamedSharding(mesh, spec)))
    advance(placed, keys)  # <- cause
