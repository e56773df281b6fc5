# cause: sharding
# subject: opt_state...
# reason: the parameters are put on the mesh before the optimizer's state is made, its counter is not; the first step returns all of it on the mesh

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
replicated = NamedSharding(mesh, P())
by_rows = NamedSharding(mesh, P("data"))


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(3)(x)


model = Encoder()
optimizer = optax.adam(1e-3)


def train_step(params, opt_state, x, y):
    def loss_fn(params):
        logits = model.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


train_step = jax.jit(train_step, out_shardings=replicated)
rng = np.random.default_rng(0)
params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 5), np.float32))
params = jax.device_put(params, replicated)
opt_state = optimizer.init(params)
for step in range(4):
    x = jax.device_put(rng.normal(size=(8, 5)).astype(np.float32), by_rows)
    y = jax.device_put(rng.integers(0, 3, 8).astype(np.int32), by_rows)
    params, opt_state, loss = train_step(params, opt_state, x, y)  # <- cause
print(float(loss))
