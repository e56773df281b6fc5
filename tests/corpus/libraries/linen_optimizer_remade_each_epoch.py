# cause: retrace
# advice: once | partial in the loop | __eq__
# reason: the state's tx is static, and a new optax.sgd is equal to no other

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


@jax.jit
def train_step(state, x):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn({"params": p}, x) ** 2))(state.params)
    return state.apply_gradients(grads=grads)


model = Net()
x = np.ones((4, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
for epoch in range(3):
    tx = optax.sgd(0.1)
    state = TrainState.create(apply_fn=model.apply, params=params, tx=tx)
    for _ in range(2):
        state = train_step(state, x)  # <- cause
    params = state.params
