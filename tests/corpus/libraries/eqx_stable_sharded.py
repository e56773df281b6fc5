# cause: stable
# reason: equinox's example of data parallelism, over four devices

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
everywhere, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("batch"))
optim = optax.sgd(0.1)


@eqx.filter_jit(donate="all")
def train_step(model, opt_state, x):
    model, opt_state = eqx.filter_shard((model, opt_state), everywhere)
    x = eqx.filter_shard(x, spread)
    grads = eqx.filter_grad(lambda model: jnp.mean(jax.vmap(model)(x) ** 2))(model)
    updates, opt_state = optim.update(grads, opt_state)
    model = eqx.apply_updates(model, updates)
    return eqx.filter_shard((model, opt_state), everywhere)


model = eqx.filter_jit(eqx.nn.Linear)(4, 2, key=jax.random.key(0))
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
model, opt_state = eqx.filter_shard((model, opt_state), everywhere)
for _ in range(3):
    x = eqx.filter_shard(np.ones((8, 4), np.float32), spread)
    model, opt_state = train_step(model, opt_state, x)
