# cause: stable
# reason: four devices, the batch is put on the mesh before each step

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(8)(x)))


mesh = Mesh(np.array(jax.devices()), ("data",))
everywhere, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
model = Net()


@jax.jit
def create(key):
    params = model.init(key, jnp.ones((1, 4)))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    return jax.lax.with_sharding_constraint(state.replace(step=jnp.int32(0)), everywhere)


@jax.jit
def train_step(state, batch):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, batch["x"]) - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return jax.lax.with_sharding_constraint(state.apply_gradients(grads=grads), everywhere), loss


state = create(jax.random.key(0))
for _ in range(3):
    batch = {"x": np.ones((8, 4), np.float32), "y": np.ones((8, 2), np.float32)}
    state, loss = train_step(state, jax.device_put(batch, spread))
print(float(loss))
