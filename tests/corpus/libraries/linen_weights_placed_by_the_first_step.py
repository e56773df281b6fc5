# cause: sharding
# advice: device_put | in_shardings
# reason: the weights come from init without a sharding and from the first step with one

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


class Tower(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(16)(x))
        return nn.Dense(4)(x)


mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, P("data"))
model = Tower()
optimizer = optax.sgd(0.05)


@jax.jit
def train_step(params, x, y):
    def loss_fn(params):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, _ = optimizer.update(grads, optimizer.init(params))
    return optax.apply_updates(params, updates), loss


def loader(batches):
    rng = np.random.default_rng(0)
    for _ in range(batches):
        x = rng.normal(size=(16, 8)).astype(np.float32)
        y = np.stack([x.sum(1)] * 4, axis=1)
        yield jax.device_put(x, rows), jax.device_put(y, rows)


def main():
    params = jax.jit(model.init)(jax.random.key(0), np.zeros((1, 8), np.float32))
    for index, (x, y) in enumerate(loader(4)):
        params, loss = train_step(params, x, y)  # <- cause
        print(index, float(loss))


main()
