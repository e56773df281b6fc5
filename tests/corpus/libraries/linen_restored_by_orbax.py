# cause: sharding
# old: not committed
# advice: device_put
# reason: what Orbax restores is committed to its device, what init made is not

import pathlib
import tempfile

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

model = nn.Dense(2)
x = np.ones((4, 3), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def train_step(params, x):
    grads = jax.grad(lambda params: jnp.mean(model.apply(params, x) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


for _ in range(2):
    params = train_step(params, x)
path = pathlib.Path(tempfile.mkdtemp()) / "params"
with ocp.StandardCheckpointer() as checkpointer:
    checkpointer.save(path, params)
    checkpointer.wait_until_finished()
    restored = checkpointer.restore(path)
train_step(restored, x)  # <- cause
