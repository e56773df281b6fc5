# cause: sharding
# subject: opt_state[0].mu['w']
# old: P()
# new: P('data', None)
# reason: the second trial spreads the optimizer's moments over the devices

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
everywhere = NamedSharding(mesh, P())
optimizer = optax.adam(1e-2)


@jax.jit
def update(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"]) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


x = jax.device_put(np.ones((4, 8), np.float32), everywhere)
params = jax.device_put({"w": np.ones((8, 2), np.float32)}, everywhere)
first = jax.device_put(optimizer.init(params), everywhere)
for spec in (P(), P("data", None)):
    moments = jax.device_put((first[0].mu, first[0].nu), NamedSharding(mesh, spec))
    opt_state = (first[0]._replace(mu=moments[0], nu=moments[1]), *first[1:])
    update(params, opt_state, x)  # <- cause
