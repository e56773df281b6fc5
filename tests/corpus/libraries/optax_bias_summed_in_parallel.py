# cause: sharding
# subject: params['b']
# old: unset
# new: P()
# advice: in_shardings | device_put
# reason: what the first step returns is on all devices, and the gradient of a sum needs no reduction there

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
rows = NamedSharding(mesh, P("data"))


@jax.jit
def train_step(params, batch):
    def loss_fn(params):
        return jnp.mean(optax.log_cosh(batch @ params["w"])) + 0.01 * params["b"].sum()

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))


params = {"w": np.ones((5, 3), np.float32), "b": np.zeros(3, np.float32)}
for _ in range(3):
    batch = jax.device_put(np.ones((8, 5), np.float32), rows)
    params = train_step(params, batch)  # <- cause
