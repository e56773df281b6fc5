# cause: sharding
# subject: params...
# old: P()
# reason: the parameters are replicated over the mesh, those of the checkpoint are NumPy's arrays

import pathlib
import tempfile

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:2]), ("data",))
replicated, by_rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(8)(x)))


model = Net()


def train_step(params, batch):
    def loss_fn(params):
        return jnp.mean((model.apply(params, batch["x"]) - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


train_step = jax.jit(train_step, out_shardings=(replicated, replicated))
rng = np.random.default_rng(0)


def fit(params, steps):
    for _ in range(steps):
        batch = {"x": rng.normal(size=(8, 4)).astype(np.float32),
                 "y": rng.normal(size=(8, 2)).astype(np.float32)}
        params, loss = train_step(params, jax.device_put(batch, by_rows))  # <- cause
    print(f"loss {float(loss):.3f}")
    return params


params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 4), np.float32))
params = fit(jax.device_put(params, replicated), 3)
checkpoint = pathlib.Path(tempfile.mkdtemp()) / "params.msgpack"
checkpoint.write_bytes(serialization.to_bytes(params))
restored = serialization.msgpack_restore(checkpoint.read_bytes())
fit(restored, 1)  # <- call
