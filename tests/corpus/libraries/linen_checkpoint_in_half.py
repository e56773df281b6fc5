# cause: dtype
# subject: state.params['Dense_0']['bias']
# old: f32[2]
# new: bf16[2]
# advice: where the data is made | astype | asarray

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(16)(x)))


model = Net()
x, y = np.ones((4, 8), np.float32), np.zeros((4, 2), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)

    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params))


state = train_step(state, x, y)
halves = jax.tree.map(lambda p: np.asarray(p, jnp.bfloat16), state.params)
blob = serialization.msgpack_serialize(halves)
state = state.replace(params=serialization.msgpack_restore(blob))
state = train_step(state, x, y)  # <- cause
