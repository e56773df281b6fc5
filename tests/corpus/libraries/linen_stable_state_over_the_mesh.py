# cause: stable
# reason: the state is made on the mesh, and each step takes and returns it as it was

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
replicated, by_rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
wide = NamedSharding(mesh, P(None, "data"))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(16)(x)))


model = Net()
optimizer = optax.adam(1e-3)


def init(key):
    params = model.init(key, jnp.ones((1, 8)))
    return params, optimizer.init(params)


def sharding_of(leaf):
    return wide if leaf.ndim == 2 and leaf.shape[1] % 4 == 0 else replicated


shardings = jax.tree.map(sharding_of, jax.eval_shape(init, jax.random.key(0)))
init = jax.jit(init, out_shardings=shardings)


def train_step(state, batch):
    params, opt_state = state

    def loss_fn(params):
        logits = model.apply(params, batch["x"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return (optax.apply_updates(params, updates), opt_state), loss


train_step = jax.jit(train_step, in_shardings=(shardings, by_rows), out_shardings=(shardings, replicated),
                     donate_argnums=0)
rng = np.random.default_rng(0)
state = init(jax.random.key(0))
for step in range(4):
    batch = {"x": rng.normal(size=(8, 8)).astype(np.float32), "y": rng.integers(0, 3, 8).astype(np.int32)}
    state, loss = train_step(state, jax.device_put(batch, by_rows))
print(float(loss))
