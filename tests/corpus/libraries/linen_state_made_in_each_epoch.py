# cause: retrace
# subject: state.tx
# advice: once, before the loop

import jax, jax.numpy as jnp, numpy as np, optax
import flax.linen as nn
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(16)(x)))


@jax.jit
def train_step(state, x, y):
    def loss(params):
        return ((state.apply_fn({"params": params}, x) - y) ** 2).mean()
    return state.apply_gradients(grads=jax.grad(loss)(state.params))


params = Net().init(jax.random.key(0), jnp.ones((1, 8)))["params"]
x, y = np.ones((4, 8), np.float32), np.ones((4, 1), np.float32)
for epoch in range(3):
    state = train_state.TrainState.create(apply_fn=Net().apply, params=params, tx=optax.sgd(0.1))
    state = state.replace(step=jnp.asarray(0, jnp.int32))
    for batch in range(2):
        state = train_step(state, x, y)  # <- cause
    params = state.params
