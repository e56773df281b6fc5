# cause: stable
# reason: a step over four devices, evaluation over the same mesh, and a state that is fetched and put back

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
model = nn.Sequential([nn.Dense(8), nn.gelu, nn.Dense(2)])
optimizer = optax.adamw(1e-3)


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=(P(), P(), P()))
def train_step(params, opt_state, x):
    def loss_fn(params):
        return jax.lax.pmean(jnp.mean(model.apply(params, x) ** 2), "data")

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))
def predict(params, x):
    return model.apply(params, x).argmax(-1)


x = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
params = jax.device_put(model.init(jax.random.key(0), x), everywhere)
opt_state = jax.device_put(optimizer.init(params), everywhere)
for epoch in range(3):
    batch = jax.device_put(x, rows)
    for _ in range(2):
        params, opt_state, loss = train_step(params, opt_state, batch)
    labels = predict(params, batch)
    saved = jax.device_get((params, opt_state))
    params, opt_state = jax.device_put(saved, everywhere)
print(float(loss))
