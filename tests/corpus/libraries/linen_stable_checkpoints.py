# cause: stable
# reason: the state is written and read as bytes, and training goes on with what was read

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
        return nn.Dense(1)(nn.tanh(nn.Dense(6)(x)))


@jax.jit
def train_step(state, x):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn({"params": p}, x) ** 2))(state.params)
    return state.apply_gradients(grads=grads)


model = Net()
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1, momentum=0.9))
state = state.replace(step=np.int32(0))
for _ in range(2):
    state = train_step(state, x)
blob = serialization.to_bytes(state)
state = serialization.from_bytes(state, blob)
for _ in range(2):
    state = train_step(state, x)
print(int(state.step))
