# cause: constant
# subject: multiply
# old: -0.1
# new: -0.05
# advice: argument | inject_hyperparams | schedule

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
    return state.apply_gradients(grads=grads)  # <- cause


model = Net()
x = np.ones((4, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
for epoch in range(2):
    if epoch == 1:
        state = state.replace(tx=optax.sgd(0.05))
    for _ in range(2):
        state = train_step(state, x)  # <- call
