# cause: structure
# reason: with the flag off neither gradient nor update is traced; the gradient's operations have the loss's line

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


@functools.partial(jax.jit, static_argnames=("is_training",))
def run_batch(state, x, y, is_training):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)

    if not is_training:
        return state, loss_fn(state.params)
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss  # <- cause


model = Net()
x, y = np.ones((4, 6), np.float32), np.ones((4, 1), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
for _ in range(2):
    state, loss = run_batch(state, x, y, is_training=True)
_, validation = run_batch(state, x, y, is_training=False)  # <- call
