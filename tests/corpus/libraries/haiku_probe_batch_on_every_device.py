# cause: sharding
# subject: x
# old: P('data'...
# new: P()
# reason: the batches are spread over the mesh; the probe that is looked at after an epoch is copied to all devices

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
everywhere, by_rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
network = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([10, 4])(x)))
optimizer = optax.sgd(0.05)


def train_step(params, x, y):
    def loss_fn(params):
        return jnp.mean((network.apply(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, _ = optimizer.update(grads, optimizer.init(params))
    return optax.apply_updates(params, updates), loss


train_step = jax.jit(train_step, out_shardings=(everywhere, everywhere))


@jax.jit
def embed(params, x):
    vectors = network.apply(params, x)
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)


def embed_all(params, batches, sharding):
    return [np.asarray(embed(params, jax.device_put(batch, sharding))) for batch in batches]  # <- cause


rng = np.random.default_rng(0)
batches = [rng.normal(size=(8, 5)).astype(np.float32) for _ in range(3)]
params = jax.jit(network.init, out_shardings=everywhere)(jax.random.key(0), batches[0])
for batch in batches:
    x = jax.device_put(batch, by_rows)
    params, loss = train_step(params, x, jax.device_put(batch[:, :4], by_rows))
index = np.concatenate(embed_all(params, batches, by_rows))
probe = embed_all(params, batches[:1], everywhere)  # <- call
print(index.shape, probe[0] @ index.T)
